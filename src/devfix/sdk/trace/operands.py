"""Rank a failure's operands by how likely each is misplaced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from devfix.model import Diagnosis, Failure, NameRef, Operand, ScopeVariable, SourceLocation

DEVICE_KINDS = ("device", "string", "index")  # the kinds of variables that name a device
BY_INDEX = re.compile(r"::_?index(_put(_impl)?_?)?$")  # operators that take an index on the host beside any data
FOLLOWER = re.compile(r"(index|indices|mask|condition)(\[\d+\])?")  # arguments that select from another one


def blamed_operand(diagnosis: Diagnosis) -> Operand:
    """Return the operand that the rule blames."""
    return diagnosis.failure.operands[diagnosis.finding.operand]


def target_device(diagnosis: Diagnosis) -> str:
    """Return the device on which the blamed operand should be: the finding's, else its peer's, else ""."""
    if diagnosis.finding.device:
        return diagnosis.finding.device
    other = peer_operand(diagnosis)
    return other.device if other is not None else ""


def peer_operand(diagnosis: Diagnosis) -> Operand | None:
    """Return the first operand on another device than the blamed one, those with elements and dimensions first."""
    if not diagnosis.failure.operands:
        return None
    return _other(diagnosis.failure, blamed_operand(diagnosis))


def misplaced_operands(failure: Failure) -> Iterator[tuple[int, Operand, Operand]]:
    """Yield each operand that may be wrong, as (index, operand, peer), likeliest first.

    If some operands were placed on purpose (`is_intentional`) and others were not, only the latter are yielded. If all
    were, the data and the parameters come last, after masks, weights and indices. A 0-dim tensor on the host is legal
    in most operators, so it comes after one with dimensions; the index in `x[index]` may always be there, unless it
    alone is on another device, which a strict run of a lifted test reports. What is where a module was moved is right
    if the module's own tensor was replaced since (`module_device`). State of a plain object of which an index beside it
    selects what is written is right too.
    """
    beside = [each for each in failure.operands if not _is_host_index(failure, each)]
    is_index_alone = len({each.device for each in beside}) == 1
    replaced = [each for each in failure.operands if module_device(failure, each)]
    right = {module_device(failure, each) for each in replaced}
    right |= {each.device for each in failure.operands if _is_state_by_index(failure, each)}
    pairs = [
        (index, operand, other)
        for index, operand in enumerate(failure.operands)
        if (other := _other(failure, operand)) is not None and (operand in replaced or operand.device not in right)
        if _is_host_index(failure, operand) is is_index_alone
    ]
    misplaced = [pair for pair in pairs if not is_intentional(failure, pair[1]) and not _is_within(failure, pair[1])]
    yield from sorted(
        misplaced or pairs,
        key=lambda pair: (
            not pair[1].shape,
            _is_declared(failure, pair[1]),
            _is_anchor(failure, pair[1]),
            *_follows(pair[1]),
        ),
    )


def _follows(operand: Operand) -> tuple[int, ...]:
    """Return a sort key for two GPU operands: the one more likely to be moved sorts first; zeros on the host.

    An index or a mask follows the tensor it selects from, stored state follows new data, a tensor that was never moved
    follows an activation, and a small tensor follows a large one.
    """
    if operand.device == "cpu":
        return (0, 0, 0, 0)
    picks = FOLLOWER.fullmatch(operand.argument) is not None
    is_kept = any(held.expression.startswith("self.") and held.relation == "same" for held in operand.names)
    return (-picks, -is_kept, len(operand.transfers), prod(operand.shape))


def is_selected_from(failure: Failure, operand: Operand) -> bool:
    """Return whether the operand is data on a GPU that only indices or masks meet, so that it should stay.

    An index of data on a GPU may be on the host, so that data that followed its index would leave the GPU.

    >>> is_selected_from(failure, failure.operands[0])
    False
    """
    others = [each.argument for each in failure.operands if each.device != operand.device]
    return (
        operand.device != "cpu"
        and FOLLOWER.fullmatch(operand.argument) is None
        and bool(others)
        and all(FOLLOWER.fullmatch(each) for each in others)
    )


def _is_host_index(failure: Failure, operand: Operand) -> bool:
    """Return whether the operand is an index on the host, which may select from data on any device."""
    is_indexing = BY_INDEX.search(failure.op) is not None
    return is_indexing and operand.device == "cpu" and FOLLOWER.fullmatch(operand.argument) is not None


def _is_within(failure: Failure, operand: Operand) -> bool:
    """Return whether the operand is an output buffer allocated at the failing call itself."""
    creation = operand.creation
    return (
        creation is not None
        and bool(creation.places)
        and creation.kind == "factory"
        and creation.places[0] == failure.at
    )


def _is_anchor(failure: Failure, operand: Operand) -> bool:
    """Return whether a parameter is on the device of its whole module; one of a model spread over GPUs may follow."""
    owner = operand.owner
    if owner is None or owner.kind != "parameter":
        return False
    scope = scope_in(failure, owner.frame)
    return not any(each.expression == owner.expression and each.device == "mixed" for each in scope)


def is_intentional(failure: Failure, operand: Operand) -> bool:
    """Return whether an operand was placed on purpose: by a move, a factory with a device, or a declaration.

    A declaration is the `device` of an object that holds the operand: `self.device` beside `self.ema.weight`.

    >>> [is_intentional(failure, each) for each in failure.operands]
    [True, False]
    """
    if operand.device != "cpu" or was_moved_to(operand, "cpu") is not None:
        return True
    return _is_declared(failure, operand)


def _is_declared(failure: Failure, operand: Operand) -> bool:
    return any(binding.device == operand.device for binding in declarations(failure, operand))


def declarations(failure: Failure, operand: Operand) -> list[ScopeVariable]:
    """Return the declared devices of objects that hold an operand: `model.device` for `model.head.weight`.

    >>> declarations(failure, failure.operands[0])
    []
    """
    named = [(held.frame, held.expression) for held in operand.names]
    named += [(owner.frame, f"{owner.expression}.{owner.attribute}") for owner in operand.holders]
    return [
        binding
        for frame, expression in named
        for binding in scope_in(failure, frame)
        if binding.kind in DEVICE_KINDS
        and _declares(binding.expression, expression)
        and not _is_derived(failure, frame, binding)
    ]


def _declares(device: str, tensor: str) -> bool:
    owner, _, name = device.rpartition(".")
    return tensor.startswith(f"{owner}.") and name.endswith("device")


def _is_derived(failure: Failure, frame: int, device: ScopeVariable) -> bool:
    """Return whether a property of a module returns the device: where its parameters are, not where they should be."""
    owner = device.expression.rpartition(".")[0]
    modules = (each.expression for each in scope_in(failure, frame) if each.kind == "module")
    return device.type == "Property" and owner in modules


def module_device(failure: Failure, operand: Operand) -> str:
    """Return where the module that holds a parameter or buffer was last moved, if the tensor is elsewhere since, or "".

    Its data was replaced after the move: by `parameter.data = …`, or by `load_state_dict(…, assign=True)`.

    >>> module_device(failure, failure.operands[0])
    ''
    """
    for owner in operand.holders if operand.owner is not None else ():
        modules = [each for each in scope_in(failure, owner.frame) if each.expression == owner.expression]
        moves = [event for each in modules for event in each.transfers]
        moved = moves[-1].device if moves and owner.kind in ("parameter", "buffer") else ""
        if moved not in ("", "mixed", operand.device):
            return moved
    return ""


def scope_in(failure: Failure, frame: int) -> tuple[ScopeVariable, ...]:
    """Return the variables in scope in a frame, by the frame's number; empty if there is no such frame."""
    return failure.frames[frame].scope if 0 <= frame < len(failure.frames) else ()


def _other(failure: Failure, operand: Operand) -> Operand | None:
    others = [each for each in failure.operands if each.device != operand.device]
    return min(others, key=lambda each: not each.shape, default=None)


def is_indexed_beside(failure: Failure, operand: Operand) -> bool:
    """Return whether the failing operator writes parts of an operand by an index that is on the operand's device.

    >>> is_indexed_beside(failure, failure.operands[0])
    False
    """
    named = (each for each in failure.operands if each.argument == "index" or each.argument.startswith("indices"))
    indices = (each for each in named if each.shape)
    return failure.writes_to(operand) and any(each.device == operand.device for each in indices)


def _is_state_by_index(failure: Failure, operand: Operand) -> bool:
    """Return whether an operand is an attribute of a plain object, written at an index beside it."""
    is_kept = operand.owner is None and any(each.expression.startswith("self.") for each in operand.names)
    return is_kept and "index_put" not in failure.op and is_indexed_beside(failure, operand)


def creation_location(operand: Operand) -> SourceLocation | None:
    """Return where owned code called the factory; None if other code did."""
    creation = operand.creation
    if creation is None or not creation.places or not creation.places[0].owned:
        return None
    return creation.places[0]


def names_in(operand: Operand, frame: int) -> list[NameRef]:
    """Return the expressions that hold an operand in a frame, before those of tensors it was derived from."""
    held = [each for each in operand.names if each.frame == frame]
    return sorted(held, key=lambda each: (each.relation != "same", each.relation != "storage", len(each.expression)))


def was_moved_to(operand: Operand, device_type: str) -> SourceLocation | None:
    """Return where owned code moved the operand to a kind of device on purpose; None if it did not."""
    for event in reversed(operand.transfers):
        place = event.owned_place
        if event.device.split(":")[0] == device_type and place is not None:
            return place
    return None


def describe(operand: Operand) -> str:
    """Return a short name of an operand for messages: its own name if it has one, else its argument's.

    An argument without a name is told by the tensor from which its last steps computed it.

    >>> describe(Operand("other", "cpu", sources=(NameRef(0, "net.shadow['a']"), NameRef(1, "self.shadow['a']"))))
    "argument `other` (computed from `self.shadow['a']`)"
    """
    names = sorted(operand.names, key=lambda each: (each.relation != "same", -each.frame, len(each.expression)))
    if names:
        return f"`{names[0].expression}`"
    deepest = max((each.frame for each in operand.sources), default=0)
    source = next((each.expression for each in operand.sources if each.frame == deepest), "")
    return f"argument `{operand.argument}`" + (f" (computed from `{source}`)" if source else "")
