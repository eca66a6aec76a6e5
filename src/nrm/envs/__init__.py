"""Environments with tasks: a grid, discs in the plane, MiniGrid, a task on any Gymnasium env; batches of them."""

import lazy_loader

from nrm.registration import register_envs

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register_envs()
