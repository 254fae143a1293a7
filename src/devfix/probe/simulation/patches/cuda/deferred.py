"""Calls that PyTorch defers until CUDA is initialized: seeds and states of generators, and those of the program.

The functions of `torch.cuda.random` are PyTorch's own. They ask `torch.cuda._lazy_call` to run them, which keeps them
until then: a state that is wrong, or a GPU that is missing, is an error where CUDA is first used.
"""

from __future__ import annotations

from typing import Any

import torch

from ...accelerators import devices, randomness
from ...patching import replace


class _Generators(tuple):  # type: ignore[type-arg]
    """The default generators by GPU; records which GPU a program asks for."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int) and index >= 0:
            devices.exists(index)
        return super().__getitem__(index)


def _run() -> None:
    """Do what `torch.cuda._lazy_init` does after the driver has started: seeds come last, wherever they were asked."""
    cuda = torch.cuda
    cuda.default_generators = _Generators(randomness.defaults[: devices.count()])
    cuda._queued_calls.extend(calls for calls in cuda._lazy_seed_tracker.get_calls() if calls)
    for call, asked in cuda._queued_calls:
        try:
            call()
        except Exception as error:
            raise cuda.DeferredCudaCallError(
                f"CUDA call failed lazily at initialization with error: {error}\n\n"
                f"CUDA call was originally invoked at:\n\n{''.join(asked)}"
            ) from error


def install() -> None:
    """Begin with nothing deferred, and without generators, which `torch.cuda` has once it is initialized."""
    replace(torch.cuda, "default_generators", (), add=True)
    replace(torch.cuda, "_queued_calls", [])
    replace(torch.cuda, "_lazy_seed_tracker", type(torch.cuda._lazy_seed_tracker)())
    devices.register_first_use(_run)
