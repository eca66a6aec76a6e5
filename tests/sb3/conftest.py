from tests.envs.conftest import _no_display, _one_thread  # noqa: F401 - fixtures
