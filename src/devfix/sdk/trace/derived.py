"""What an operand was made of: tensors in scope whose history its own begins with."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.model import Event, Failure, Operand, ScopeVariable, SourceLocation
from devfix.sdk.trace.history import preserves_data
from devfix.sdk.trace.operands import scope_in


def derived_in_frame(failure: Failure, operand: Operand, frame: int) -> list[ScopeVariable]:
    """The tensors in a frame's scope that an operand was computed from, the nearest first; not the operand itself.

    `self.mask` for the operand `self.mask == 0`, which has a name of its own nowhere.

    >>> [each.expression for each in derived_in_frame(failure, failure.operands[1], 0)]
    []
    """
    found = [
        binding
        for binding in scope_in(failure, frame)
        if binding.kind == "tensor" and binding.device == operand.device and begins(operand.history, binding.history)
    ]
    return sorted(found, key=lambda each: (-len(each.history), each.expression.count("."), len(each.expression)))


def begins(history: tuple[Event, ...], source: tuple[Event, ...]) -> bool:
    """Whether a history goes on from another one, which is not empty."""
    if not 0 < len(source) < len(history) or not all(each.places for each in source):
        return False
    return _steps(history)[: len(source)] == _steps(source)


def _steps(history: tuple[Event, ...]) -> list[tuple[str, tuple[SourceLocation, ...]]]:
    return [(each.op, each.places) for each in history]


@dataclass(frozen=True)
class StoredAttribute:
    """An attribute that keeps an operand, or what it was computed from.

    `whole` is the object's expression in frame number `frame`, `attribute` its name without an index; `history` is that
    of the tensor kept; `module` is the object where that is a module.

    >>> stored_attributes(failure, failure.operands[1])
    []
    """

    frame: int
    whole: str
    attribute: str
    history: tuple[Event, ...]
    module: ScopeVariable | None = None

    @property
    def maker(self) -> Event | None:
        """The last event that made new data: the birth, or an operator that is no view, cast or move."""
        made = [event for event in self.history if not preserves_data(event)]
        return made[-1] if made else next(iter(self.history), None)


def stored_attributes(failure: Failure, operand: Operand) -> list[StoredAttribute]:
    """The attributes that keep an operand or what it was computed from, the deepest frame first.

    >>> stored_attributes(failure, failure.operands[0])
    []
    """
    found = []
    for number in reversed(range(len(failure.frames))):
        scope = {each.expression: each for each in failure.frames[number].scope}
        names = [held.expression for held in operand.names if held.frame == number]
        names += [each.expression for each in derived_in_frame(failure, operand, number)]
        for name in dict.fromkeys(names):
            whole, dot, attribute = name.partition("[")[0].rpartition(".")
            if dot and name in scope and not scope[name].type.endswith("Parameter"):
                module = scope.get(whole)
                module = module if module is not None and module.kind == "module" else None
                found.append(StoredAttribute(number, whole, attribute, scope[name].history, module))
    return found
