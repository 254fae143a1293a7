"""Indices of devices that functions are given, and the functions of `torch.xpu` for random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...accelerators import devices, kinds, randomness
from ...patching import replace


def index_of(device: Any = None, missing: Callable[[int], Exception] | None = None) -> int:
    """Return the index of a device that a function is given, the current one if none is; ValueError for others.

    `missing` gives the error of a function that checks the index before CUDA does.
    """
    if device is None:
        return devices.current()
    if missing is not None:
        number = device if isinstance(device, int) else torch.device(device).index
        if number is not None and _is_of_kind(device) and not devices.exists(number):
            raise missing(number)
    index = devices.index_named(device)
    if index is None:
        raise ValueError(f"Expected a {kinds.now().name} device, but got: {device}")
    return index


def _is_of_kind(device: Any) -> bool:
    return isinstance(device, int) or torch.device(device).type == kinds.now().name


def _generator(device: Any) -> Any:
    """Return the default generator of a device."""
    return randomness.defaults[index_of(device)]


def _generator_by_index(device: Any) -> Any:
    """Return the generator that a device's index names: torch/xpu/random.py reads nothing else of the device."""
    devices.use()
    return _generator(device if isinstance(device, int) else torch.device(device).index)


def _seed(seed: int, gpus: Any) -> None:
    for gpu in gpus:
        randomness.defaults[gpu].manual_seed(int(seed))


def _initial_seed() -> int:
    devices.use()
    return int(randomness.defaults[devices.current()].initial_seed())


def _set_all_states(new_states: Any) -> None:
    for index, state in enumerate(new_states):
        _generator(index).set_state(state)


def answers() -> dict[str, Any]:
    """Return the functions by name."""
    name = kinds.now().name
    return {
        "manual_seed": lambda seed: _seed(seed, [devices.current()]),
        "manual_seed_all": lambda seed: _seed(seed, range(devices.count())),
        "seed": lambda: randomness.defaults[devices.current()].seed() and None,
        "seed_all": lambda: [generator.seed() for generator in randomness.defaults] and None,
        "initial_seed": _initial_seed,
        "get_rng_state": lambda device=name: _generator_by_index(device).get_state(),
        "set_rng_state": lambda new_state, device=name: _generator_by_index(device).set_state(new_state) and None,
        "get_rng_state_all": lambda: [generator.get_state() for generator in randomness.defaults[: devices.count()]],
        "set_rng_state_all": _set_all_states,
    }


def install(module: Any) -> None:
    """Patch the default generators and the functions of a module, and of its part `random`."""
    replace(module, "default_generators", tuple(randomness.defaults), add=True)
    for name, answer in answers().items():
        for owner in (module, module.random):
            if hasattr(owner, name):
                replace(owner, name, answer)
