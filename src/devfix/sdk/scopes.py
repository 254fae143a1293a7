"""What was seen in scope at a place, and where it lay."""

from __future__ import annotations

from collections.abc import Iterable

from devfix.model import Binding, Failure, Place
from devfix.sdk.spots import scope_at


def binding_at(failure: Failure, place: Place, expression: str) -> Binding | None:
    """What an expression held at a place; None where nothing is known of it.

    >>> found = binding_at(failure, failure.at, "x")
    >>> found.kind, found.device, found.shape
    ('tensor', 'cuda:0', (2, 8))
    """
    return next((each for each in scope_at(failure, place) if each.expression == expression), None)


def device_at(failure: Failure, place: Place, expression: str) -> str:
    """The device of what an expression held at a place: "cuda:0", "cpu", "mixed" for a module that lies on several.

    Empty where nothing is known of it.

    >>> [device_at(failure, failure.at, name) for name in ("x", "positions", "y")]
    ['cuda:0', 'cpu', '']
    """
    found = binding_at(failure, place, expression)
    return found.device if found else ""


def on_device(scope: Iterable[Binding], device: str, *kinds: str) -> list[Binding]:
    """The bindings of a scope that lie on a device, shortest expression first; `kinds` as in `Binding.kind`.

    >>> [each.expression for each in on_device(scope_at(failure, failure.at), "cuda:0", "tensor")]
    ['x', 'self.scale']
    """
    found = [each for each in scope if each.device == device and (not kinds or each.kind in kinds)]
    return sorted(found, key=lambda each: (each.expression.count("."), len(each.expression)))


def device_in(failure: Failure, frame: int, expression: str) -> str:
    """The device of what an expression holds in a frame, by the frame's number; "" where nothing is known of it.

    >>> device_in(failure, 0, "model")
    'cuda:0'
    """
    scope = failure.frames[frame].scope if 0 <= frame < len(failure.frames) else ()
    return next((each.device for each in scope if each.expression == expression), "")
