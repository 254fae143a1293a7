"""The functions for random numbers that `torch.cuda` and `torch.xpu` have alike."""

from __future__ import annotations

from typing import Any

from ...accelerators import devices, kinds, randomness
from ...patching import replace


def index_of(device: Any = None) -> int:
    """Return the index of a device that a function is given, the current one if none is; ValueError for others."""
    if device is None:
        return devices.current()
    index = devices.spoken(device)
    if index is None:
        raise ValueError(f"Expected a {kinds.now().name} device, but got: {device}")
    return index


def _seed(seed: int, gpus: Any) -> None:
    for gpu in gpus:
        randomness.defaults[gpu].manual_seed(int(seed))


def _set_all_states(states: Any) -> None:
    for generator, state in zip(randomness.defaults, states):  # noqa: B905 - as PyTorch, use those that exist
        generator.set_state(state.cpu())


def answers() -> dict[str, Any]:
    """Return the functions by name."""
    name = kinds.now().name
    return {
        "manual_seed": lambda seed: _seed(seed, [devices.current()]),
        "manual_seed_all": lambda seed: _seed(seed, range(devices.count())),
        "seed": lambda: randomness.defaults[devices.current()].seed(),
        "seed_all": lambda: [generator.seed() for generator in randomness.defaults] and None,
        "initial_seed": lambda: randomness.defaults[devices.current()].initial_seed(),
        "get_rng_state": lambda device=name: randomness.defaults[index_of(device)].get_state(),
        "set_rng_state": lambda state, device=name: (
            randomness.defaults[index_of(device)].set_state(state.cpu()) and None
        ),
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
