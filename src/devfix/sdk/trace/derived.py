"""Find the tensors in scope from which an operand was computed."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.model import Event, Failure, Operand, ScopeVariable, SourceLocation
from devfix.sdk.trace.history import preserves_data
from devfix.sdk.trace.operands import scope_in


def derived_in_frame(failure: Failure, operand: Operand, frame: int) -> list[ScopeVariable]:
    """Return the tensors in a frame's scope from which an operand was computed, nearest first, without the operand.

    For example `self.mask` for the operand `self.mask == 0`, which has no name. The trace names them; other variables
    count if the operand's history continues theirs, and come last.

    >>> [each.expression for each in derived_in_frame(failure, failure.operands[1], 0)]
    []
    """
    named = {each.expression: number for number, each in enumerate(operand.sources) if each.frame == frame}
    found = [
        binding
        for binding in scope_in(failure, frame)
        if binding.kind == "tensor" and binding.device == operand.device
        if binding.expression in named or begins(operand.history, binding.history)
    ]
    return sorted(
        found,
        key=lambda each: (
            named.get(each.expression, len(named)),
            -len(each.history),
            each.expression.count("."),
            len(each.expression),
        ),
    )


def begins(history: tuple[Event, ...], source: tuple[Event, ...]) -> bool:
    """Return whether a history continues another one, which is not empty."""
    if not 0 < len(source) < len(history) or not all(each.places for each in source):
        return False
    return _steps(history)[: len(source)] == _steps(source)


def _steps(history: tuple[Event, ...]) -> list[tuple[str, tuple[SourceLocation, ...]]]:
    return [(each.op, each.places) for each in history]


@dataclass(frozen=True)
class StoredAttribute:
    """An attribute that stores an operand, or a tensor from which it was computed.

    `whole` is the object's expression in frame number `frame`, `attribute` its name without an index, `history` that of
    the stored tensor, and `module` the object if it is a module.

    >>> ctx.stored_attributes()
    []
    """

    frame: int
    whole: str
    attribute: str
    history: tuple[Event, ...]
    module: ScopeVariable | None = None

    @property
    def maker(self) -> Event | None:
        """The last event that created new data: the creation, or an operator that is not a view, cast or move."""
        made = [event for event in self.history if not preserves_data(event)]
        return made[-1] if made else next(iter(self.history), None)

    @property
    def module_type(self) -> str:
        """The class of the object if it is a module; else ""."""
        return self.module.type if self.module is not None else ""

    @property
    def places(self) -> tuple[SourceLocation, ...]:
        """The calls that were running when `maker` made it, innermost first."""
        return self.maker.places if self.maker is not None else ()


def stored_attributes(failure: Failure, operand: Operand) -> list[StoredAttribute]:
    """Return the attributes that store an operand or a tensor from which it was computed, deepest frame first.

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
