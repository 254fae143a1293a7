"""Enter a world: let this process see N simulated devices of a kind, the real ones, or none."""

from __future__ import annotations

import torch

from . import modes, patching
from .accelerators import devices, kinds, randomness, real_accelerator, real_gpus
from .dispatcher import dispatch, factory_path, fast_path
from .native import loading
from .operator_tables import plans
from .patches import install
from .patches.accelerators import hidden
from .tensors import tensor

KINDS = ("cpu", "real", "simulated")


def enter(kind: str = "simulated", gpus: int = 1, current: int = 0, device: str = "cuda") -> None:
    """Enter a world, leaving the current one; the calling thread's current device becomes `current`.

    Raises ValueError for a kind that is not "cpu", "real" or "simulated", a current device that does not exist, or more
    devices than a machine can have.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not a world: choose one of {', '.join(KINDS)}")
    if kind == "simulated" and not 0 <= current < max(gpus, 1):
        raise ValueError(f"GPU {current} cannot be current: the world has {gpus}")
    if device not in kinds.KINDS or (kind == "simulated" and gpus > kinds.KINDS[device].most):
        raise ValueError(f"there is no world with {gpus} {device} devices")
    leave()
    if kind == "real":
        real_gpus.show()
    else:
        real_gpus.hide_real_gpus()
    with torch.device("cpu"):  # a GPU may have been set as the default device before there was one
        if device != kinds.now().name:
            plans.forget_all()
        devices.install(gpus if kind == "simulated" else 0, current, device)
        loading.extension()
        tensor.install()
        fast_path.install()
        factory_path.install()
        dispatch.install()
        if kind != "real":
            hidden.install(device if kind == "simulated" else "")
        if kind == "simulated":
            randomness.install()
            install.simulate()
        install.everywhere()
    if kind == "real" and real_accelerator.is_available():
        real_accelerator.make_current(current)
    modes.world[:] = [hidden.mode()]
    modes.join_world()


def leave() -> None:
    """Leave the world: undo all patches, in this thread and for all threads started from now on."""
    real_gpus.show()
    modes.leave_world()
    modes.world.clear()
    patching.restore()
