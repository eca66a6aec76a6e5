"""Grids: every combination once, in a useful order, under stable names; wrong ones are refused whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nrm.errors import ConfigError, GridError, NrmError, NrmWarning
from nrm.runs import choose_run
from nrm.sweeps import PAPER_LISTS, Cell, Grid, LocalEngine, load_grid, run_grid
from nrm.sweeps.grid_file import grid_from_toml, grid_words
from tests.said import names

SWEEP = """
tasks = [1, "sequence-2", "F pickaxe & G !lava"]
envs = ["map", "image"]
methods = ["nrm", "rm"]
seeds = [0, 7]
total_episodes = 300

[settings.algorithm]
learning_rate = 0.002

[variants.base]
[variants.open]
grounding.belief = "argmax"
algorithm.max_grad_norm = "none"
[variants.papers]
recipe = "paper"
total_episodes = 50
env.layout = "episode"
network.encoder = "standard"
"""


def _kind(cell: Cell) -> tuple[str, ...]:
    return cell.config.task, cell.config.env_title, cell.config.method


def test_the_papers_grid() -> None:
    grid = Grid(**PAPER_LISTS)
    assert len(grid.cells) == 8 * 3 * 5 * 2
    assert {cell.config.total_episodes for cell in grid.cells} == {10_000}
    # The first fifth already holds every task, method and environment.
    first = grid.cells[:48]
    assert {_kind(cell) for cell in first} == {_kind(cell) for cell in grid.cells}


def test_a_grid_file() -> None:
    grid = grid_from_toml(SWEEP)
    cells = {cell.name: cell for cell in grid.cells}
    assert len(cells) == len(grid.cells) == 3 * 2 * 2 * 2 * 3
    base, opened = cells["map-task1-nrm-base-seed7"].config, cells["map-task1-nrm-open-seed7"].config
    assert (base.settings["grounding"].belief, opened.settings["grounding"].belief) == ("annealed", "argmax")
    assert opened.settings["algorithm"].max_grad_norm is None
    assert base.settings["algorithm"].learning_rate == opened.settings["algorithm"].learning_rate == 0.002
    assert base.total_episodes == 300
    papers = cells["image-episode-task3-rm-papers-seed0"]
    assert (papers.variant, papers.config.settings["env"].layout) == ("papers", "episode")
    assert (papers.config.num_envs, papers.config.total_episodes) == (1, 50)  # a variant's own setting wins
    assert papers.config.settings["network"].encoder == "standard"
    assert "grounding" not in papers.config.settings  # RM has none


def test_a_variant_of_one_method_is_no_other_run_of_the_others() -> None:
    variants: dict[str, Any] = {
        "base": {},
        "open": {"grounding": {"belief": "argmax"}},
        "often": {"grounding": {"every": 60}},
    }
    names = [cell.name for cell in Grid(("1",), methods=("rm", "nrm"), variants=variants).cells]
    assert sorted(names) == [f"map-task1-{name}-seed0" for name in ("nrm-base", "nrm-often", "nrm-open", "rm-base")]


def test_minigrid_in_a_grid() -> None:
    pytest.importorskip("minigrid")
    (cell,) = Grid(("F goal & G !lava",), ("minigrid:MiniGrid-LavaGapS5-v0",), methods=("rm",)).cells
    assert _kind(cell)[1:] == ("minigrid:MiniGrid-LavaGapS5-v0", "rm")
    assert cell.name.startswith("minigrid-MiniGrid-LavaGapS5-v0-")


def test_each_env_has_its_own_task() -> None:
    envs = ("minigrid:MiniGrid-LavaGapS5-v0", "minigrid:MiniGrid-DoorKey-5x5-v0")
    lava, key = Grid(("own",), envs=envs, methods=("rm",)).cells
    assert lava.name == "minigrid-MiniGrid-LavaGapS5-v0-own-rm-seed0"
    assert [cell.config.task == choose_run(None, cell.config.env).task for cell in (lava, key)] == [True, True]
    assert lava.config.task != key.config.task
    with pytest.raises(ConfigError, match="no task"):
        _ = Grid(("own",), envs=("letter",), methods=("rm",)).cells


def test_names_are_stable_and_tell_tasks_apart() -> None:
    tasks = ("F pickaxe & F lava", "F(pickaxe & F lava)", "F pickaxe & G !lava")
    names = [cell.name for cell in Grid(tasks, methods=("rm",)).cells]
    assert names == [cell.name for cell in Grid(tasks, methods=("rm",)).cells]
    assert len(set(names)) == 3
    assert all(name.startswith("map-f-pickaxe-") and name.endswith("-rm-seed0") for name in names)


def test_task_files_lie_beside_the_grid_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('formula = "F gem"\nsymbols = ["pickaxe", "lava", "door", "gem", "empty"]\n')
    (tmp_path / "grid.toml").write_text('tasks = ["mine.toml"]\nmethods = ["rm"]\n')
    (cell,) = load_grid(tmp_path / "grid.toml").cells
    assert cell.name.startswith("map-mine-")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tasks = [1]\nseedz = [1]", "line 2 … 'seedz' … 'seeds'"),
        (
            "tasks = [1]\n[settings.algorithm]\nnum_stpes = 3",
            "line 3 … 'algorithm.num_stpes' … 'num_steps'",
        ),
        ("tasks = [1]\n[variants.a]\ngrounding.beleif = 'open'", "line 3 … 'grounding.beleif'"),
        ("tasks = [1]\n[settings]\nlearning_rate = 1", "'learning_rate'"),
        ("tasks = [1]\n[variants.a]\nenv.layout = 'fix'", "env.layout … 'fix'"),
        ("tasks = [1]\nend = 'limits'", "line 2: end … 'limits'"),
        ("tasks = [1]\n[variants.a]\nend = 'limits'", "line 3: end … 'limits'"),
        (
            "tasks = [1]\nmethods = ['rm']\n[settings.grounding]\nevery = 3",
            "line 3 … 'grounding' … nrm",
        ),
        ("tasks = ['G !lava']\nend = 'limit'\n[variants.a]\n[variants.b]\nend = 'outcome'", "end='limit'"),
        ("tasks = [1]\nsettings = {recipe = 'paper'}", "'recipe'"),
        ("seeds = [1]", "'tasks'"),
        ("tasks = []", "empty: tasks"),
        ("tasks = [1]\nseeds = []", "empty: seeds"),
        ("tasks = [1]\nseeds = 5", "line 2: seeds: … `array` … `int`"),
        ("tasks = [1]\nseeds = [true]", "line 2: seeds[0]: … `int` … `bool`"),
        ("tasks = [1]\nseeds = [-1]", "line 2: seeds"),
        ("tasks = [1]\nvariants = 3", "line 2: variants: … `object` … `int`"),
        ("tasks = [1]\nseeds = [0, 0]", "seeds … 0"),
        ("tasks = [1, 'visit-2']", "map-task1-rm-seed0"),
        ("tasks = ['F gem', 'F (gem)']", "same run"),
        ("tasks = [1]\n[variants.a]\n[variants.b]", "map-task1-rm-a-seed0 … map-task1-rm-b-seed0"),
        ("tasks = [1]\n[variants.a]\n[variants.A]\nalgorithm.num_steps = 3", "folder"),
        ("tasks = [1]\n[variants.'../a']", "'../a'"),
        ("tasks = [9]", "line 1 … '9'"),
        ("tasks = ['F pikaxe']", "'pikaxe' … 'pickaxe'"),
        ("tasks = [1]\nenvs = ['mpa']", "'mpa' … 'map'"),
        ("tasks = [1]\nmethods = ['nmr']", "line 2 … 'nmr' … 'nrm'"),
        ("tasks = [1]\nrecipe = 'papr'", "line 2 … 'papr' … 'paper'"),
        ("tasks = [1]\ntotal_episodes = 0", "line 2: total_episodes: … `int` >= 1"),
        ("tasks = [1]\n[settings.algorithm]\nnum_steps = 2.5", "algorithm.num_steps: … `int` … `float`"),
        ("tasks = [1", "TOML"),
        ("tasks = ['missing.toml']", "missing.toml"),
        ("tasks = 'mixtur'", "line 1: tasks: … 'mixtur' … 'mixture'"),
        ("tasks = 'F gem'", 'tasks = ["F gem"]'),
        ("tasks = 'file:nowhere.txt'\nenvs = ['letter']", "nowhere.txt"),
        (
            "tasks = 'mixture'\nenvs = ['minigrid:MiniGrid-LavaGapS5-v0']",
            "one task … map",
        ),
        (
            "tasks = 'mixture'\nenvs = ['letter']\ntotal_timesteps = 0",
            "line 3: total_timesteps: … `int` >= 1",
        ),
        ("tasks = 'mixture'\nenvs = ['letter']\n[settings.family]\nlongst = 2", "'family.longst'"),
        ("tasks = 'conditionals'\n[settings.env]\nitems = []", "events"),
        ("tasks = [1]\n[settings.family]\nlongest = 2", 'tasks = "mixture"'),
        ("tasks = ['reach', 'reach']", "tasks … 'reach'"),
    ],
)
def test_bad_grids(text: str, message: str) -> None:
    with pytest.raises(GridError) as caught:
        grid_from_toml(text, "sweep.toml")
    assert names(str(caught.value), message)
    assert str(caught.value).startswith("sweep.toml")


CORRIDOR = "envs = ['tests.envs.own:Corridor']\n[settings.env]\nlabel = 'tests.envs.own:holds'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"tasks = ['own']\n{CORRIDOR}",
            "no task … tests.envs.own:Corridor",
        ),
        (
            "tasks = ['own']",
            "no task",
        ),
        (f"tasks = [1]\n{CORRIDOR}", "settings.env.symbols"),
        (f"tasks = ['F dexk']\n{CORRIDOR}", "task"),
        (f"tasks = ['F mail']\n{CORRIDOR}", "settings.env.symbols"),
        (
            f"tasks = ['F mail']\n{CORRIDOR}kwargs = {{sise = 2}}",
            "line 5: tests.envs.own:Corridor: unknown argument 'sise'; did you mean 'size'? (arguments: size, noise); "
            "see settings.env.kwargs",
        ),
        (
            "tasks = ['F mail']\nenvs = ['tests.envs.own:with_task']",
            "TaskEnv",
        ),
        ("tasks = ['own']\nenvs = ['tests.envs.own:with_task']\nend = 'limit'", "--end outcome"),
        (
            f"tasks = ['F mail']\n{CORRIDOR.replace('Corridor', 'Pieces')}symbols = ['mail', 'desk', 'floor']",
            "gymnasium.wrappers.FlattenObservation",
        ),
    ],
)
def test_errors_of_environments_of_ones_own_speak_of_fields(text: str, message: str) -> None:
    with pytest.raises(GridError) as caught:
        grid_from_toml(f"{text}\n", "sweep.toml")
    assert names(str(caught.value), message)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("use --network.encoder auto", "use settings.network.encoder auto"),
        ("drop --tasks.curriculum and --tasks.teach", "drop settings.tasks.curriculum and settings.tasks.teach"),
        ("drop --tasks.up-to-renaming", "drop settings.tasks.up_to_renaming"),
        ("go on with 'nrm train --resume a', or choose another --out", None),
    ],
)
def test_options_in_the_words_of_a_grid(said: str, meant: str | None) -> None:
    assert grid_words(said) == (said if meant is None else meant)


def test_a_task_that_does_not_fit_the_env_is_found_before_training(tmp_path: Path) -> None:
    (tmp_path / "task.toml").write_text('formula = "F gem"\npropositions = ["gem"]\n')
    with pytest.raises(NrmError):
        _ = Grid((str(tmp_path / "task.toml"),)).cells


def test_families_of_tasks(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("F a\nF(b & F c)\n")
    text = """
tasks = ["reach", "file:mine.txt"]
envs = ["letter"]
methods = ["rm"]
total_timesteps = 4000
[settings.tasks]
count = 50
[variants.base]
[variants.few]
tasks.count = 5
total_timesteps = 2000
"""
    grid = grid_from_toml(text, "sweep.toml", tmp_path)
    names = [cell.name for cell in grid.cells]
    assert names[:2] == ["letter-reach-rm-base-seed0", "letter-reach-rm-few-seed0"]
    assert names[2].startswith("letter-mine-")
    base, few, listed, _ = (cell.config for cell in grid.cells)
    assert (base.tasks, base.total_timesteps, base.settings["tasks"].count, base.algorithm) == (
        "reach",
        4000,
        50,
        "ppo",
    )
    assert (few.total_timesteps, few.settings["tasks"].count) == (2000, 5)
    assert listed.pool is not None
    assert listed.pool.names == ("F a", "F(b & F c)")
    (only, *_) = grid_from_toml(text.replace('["reach", "file:mine.txt"]', '"reach"')).cells
    assert only.config == base
    with pytest.warns(NrmWarning, match=r"families.*tasks"):
        old = grid_from_toml(text.replace("tasks = [", "families = ["), "sweep.toml", tmp_path)
    assert old == grid


def test_a_grid_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    one = Grid(("1",), methods=("rm",))
    with pytest.raises(GridError, match="map-task1-rm-seed0"):
        run_grid([one, one], tmp_path, LocalEngine(1))


def test_tasks_and_families_side_by_side() -> None:
    grid = Grid(("1", "paper"), methods=("rm",), settings={"family": {"max_steps": 1}}, total_timesteps=100)
    one, many = grid.cells
    assert (one.name, many.name) == ("map-task1-rm-seed0", "map-paper-rm-seed0")
    assert "family" not in one.config.settings
    assert many.config.settings["family"].max_steps == 1


def test_tables_within_sections_are_joined() -> None:
    own = "gym:CartPole-v1"
    text = f"""
envs = ["{own}"]
tasks = ["F a"]
methods = ["memoryless"]
total_timesteps = 100
[settings.env]
symbols = ["a", "b"]
label = "tests.sweeps.test_grid:says_b"
kwargs = {{sutton_barto_reward = true}}
[variants.base]
[variants.drawn]
env.kwargs.max_episode_steps = 20
"""
    kwargs = [dict(cell.config.settings["env"].kwargs) for cell in grid_from_toml(text).cells]
    assert kwargs == [{"sutton_barto_reward": True}, {"sutton_barto_reward": True, "max_episode_steps": 20}]


def says_b(*_: Any) -> str:
    """The label of an environment in which nothing ever happens."""
    return "b"
