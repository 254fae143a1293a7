"""Begin a lifted run in a world with GPUs; it ends with the world."""

from __future__ import annotations

import torch

from ..config import LiftConfig
from . import boundaries, devices, factories, generators, hosts, mixtures, modules, objects, whose


def install(order: LiftConfig) -> None:
    """Lift what test code makes; without a GPU there is nowhere to lift it to."""
    whose.want(order)
    if torch.cuda.device_count() <= order.device:
        return
    devices.aim(order.device)
    for subject in (factories, generators, modules, objects, hosts, mixtures, boundaries):
        subject.install()
