"""Random streams that test code makes: each stays on the host until something on a GPU draws from it."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from ...simulation.patching import wrap
from .. import devices
from ..whose import works_for_test

# Generators of test code, and their twins on the GPU, by C++'s names: it hands out other Python objects for one.
_made: dict[int, Any] = {}
_twins: dict[int, Any] = {}


def draw_on_host(original: Any, args: Any, kwargs: dict[str, Any], generator: Any) -> Any:
    """Return what a factory draws from a stream of test code: the values of the host, on the device."""
    made = original(*args, **kwargs)
    return devices.lift(made) if generator is None or generator.device.type == "cpu" else made


def twin(generator: Any) -> Any | None:
    """Return the stream on the GPU that stands for one which test code has made; None for any other."""
    number = generator._cdata
    if number in _made and number not in _twins:
        other = torch.Generator(devices.target())
        other.manual_seed(generator.initial_seed())
        _twins[number] = other
    return _twins.get(number)


def _generator(original: Any) -> Any:
    class Kind(type(original)):  # type: ignore[misc]
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, original)

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if not args and not kwargs and works_for_test(1):
                _note(made)
            return made

    return Kind("Generator", (original,), {"__module__": "torch"})


def _note(made: Any) -> None:
    number = made._cdata

    def drop(_: Any) -> None:
        _made.pop(number, None)
        _twins.pop(number, None)

    _made[number] = weakref.ref(made, drop)


def install() -> None:
    """Note which generators test code makes."""
    wrap(torch, "Generator", _generator)
