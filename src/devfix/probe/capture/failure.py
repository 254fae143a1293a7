"""Describe an exception as the failure of a trace: the stack, the operands, their names, and what is in scope."""

from __future__ import annotations

import builtins
import contextlib
import sys
import threading
import traceback
from types import FrameType, TracebackType
from typing import Any

import torch

from ..counters import checksums, totals
from ..inspection import histories, operands, scope, stand_in
from ..inspection.owners import Holdings, Looked
from ..provenance import places, records
from ..recipes import calls
from ..simulation.accelerators import messages
from ..simulation.operator_tables import operators

Json = dict[str, Any]
_STRIPPED = 50  # exceptions, with their causes and those of groups, from whose tracebacks the probe's frames are taken
_BINDINGS = 4_000  # expressions recorded of all frames together; a deep stack gets fewer for each
GROUP: Any = getattr(builtins, "BaseExceptionGroup", ())  # since Python 3.11
_WITHOUT_TENSORS = frozenset(
    {"other", "no-device", "invalid-ordinal", "deserialize", "fork", "autocast-device", "constructor-device"}
)


def capture(exception: BaseException, kind: str, func: Any, args: Any, kwargs: Any) -> Json:
    """Describe a failure at the moment it is raised, while the whole stack exists."""
    frames = places.stack(sys._getframe(1))
    located = [(frame, frame.f_lasti, frame.f_lineno) for frame in frames]
    failure = _begin(exception, kind, located)
    looked = _look(failure, frames)
    _tell_calls(failure, frames)
    if totals.is_active():
        failure["operator_totals"] = totals.export()  # code that reports the failure, as pytest does, computes too
    given = operands.arguments(func, args, kwargs) if func is not None else []
    told = [(name, tensor, stand_in.argument_for(tensor, failure["frames"], frames)) for name, tensor in given]
    failure["op"] = operators.qualified_name(func)
    failure["operands"] = _tell_operands([found or (name, tensor) for name, tensor, found in told], looked)
    for operand, (argument, tensor) in zip(failure["operands"], given):  # noqa: B905
        operand["values"] = checksums.checksum_of(func, argument, tensor)
    summary = traceback.StackSummary.extract((frame, line) for frame, _, line in located)
    failure["traceback"] = "".join(["Traceback (most recent call last):\n", *summary.format(), _last_line(exception)])
    return failure


def reconstruct(exception: BaseException, kind: str) -> Json:
    """Describe a failure from the traceback of an exception that no operator reported."""
    located = walk(exception.__traceback__)
    if kind != "other":
        messages.translate(exception)  # of constructors in C that nothing replaces, such as torch.FloatTensor
    failure = _begin(exception, kind, located)
    failure["traceback"] = format_traceback(exception)
    looked = _look(failure, [frame for frame, _, _ in located]) if kind != "other" else []
    if kind != "other":
        _tell_calls(failure, [frame for frame, _, _ in located])
    if kind not in _WITHOUT_TENSORS:
        failure["operands"] = _tell_operands([("", tensor) for tensor in _deepest(located)], looked)
    return failure


def walk(trace: TracebackType | None) -> list[tuple[FrameType, int, int]]:
    """Return frame, instruction and line of each entry of a traceback, without the probe's own."""
    entries = []
    while trace is not None:
        entries.append((trace.tb_frame, trace.tb_lasti, trace.tb_lineno))
        trace = trace.tb_next
    located = [entries[at] for at in places.visible_frames([frame.f_code for frame, _, _ in entries])]
    return located if len(located) <= 300 else located[:50] + located[-250:]


def format_traceback(exception: BaseException) -> str:
    """Format an exception as Python does, its causes included, without the probe's frames."""
    strip(exception)
    try:
        return "".join(traceback.format_exception(type(exception), exception, exception.__traceback__))[:200_000]
    except Exception:  # an exception whose own __str__ raises
        return _last_line(exception)


def strip(exception: BaseException | None) -> None:
    """Remove the probe's own frames from the tracebacks that the user will read: causes and members of groups too."""
    left, seen = [exception], set[int]()
    while left and len(seen) < _STRIPPED:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        _strip_one(each)
        left += each.exceptions if isinstance(each, GROUP) else ()
        left.append(each.__cause__ or each.__context__)


def _strip_one(exception: BaseException) -> None:
    entries = []
    trace = exception.__traceback__
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    frames = [entries[at] for at in places.visible_frames([entry.tb_frame.f_code for entry in entries])]
    if frames:
        for inner, outer in zip([*frames[1:], None], frames, strict=True):
            outer.tb_next = inner
        exception.__traceback__ = frames[0]


def message_of(exception: BaseException) -> str:
    """Return the exception's text, even if its `__str__` raises."""
    try:
        return str(exception)
    except Exception:
        return ""


def name_of(exception: BaseException) -> str:
    """Return the exception's class as tracebacks print it: with its module, unless that is builtins."""
    module, name = type(exception).__module__, type(exception).__qualname__
    return name if module in ("builtins", "__main__") else f"{module}.{name}"


def _begin(exception: BaseException, kind: str, located: list[tuple[FrameType, int, int]]) -> Json:
    return {
        "kind": kind,
        "exception": name_of(exception),
        "message": message_of(exception),
        "op": "",
        "thread": threading.current_thread().name,
        "traceback": "",
        "uncaught": False,
        "operations": records.operations(),
        "frames": [
            {"place": places.describe(frame.f_code, lasti, line), "scope": []} for frame, lasti, line in located
        ],
        "operands": [],
    }


def _tell_calls(failure: Json, frames: list[FrameType]) -> None:
    if calls.is_active():
        failure["test"] = calls.test()
        # Here no operator takes the tensors of `torch.func.vmap`. The failure counts, not its regression test.
        with contextlib.suppress(Exception):
            failure["calls"] = calls.describe_calls(frames)


def _tell_operands(given: list[tuple[str, Any]], looked: Looked) -> list[Json]:
    holdings = Holdings(looked)
    return [operands.describe_operand(name, tensor, looked, holdings) for name, tensor in given]


def _look(failure: Json, frames: list[FrameType]) -> Looked:
    """Fill in the scopes of owned frames; return what was seen, deepest frame first."""
    looked: Looked = []
    known: dict[int, Json] = {}
    owned = [number for number, frame in enumerate(frames) if places.kind_of(frame.f_code) == places.OWNED]
    most = max(_BINDINGS // max(len(owned), 10), 40)
    for number in reversed(owned):
        held = scope.look(frames[number], most)
        failure["frames"][number]["scope"] = [histories.binding(item, known) for item in held]
        looked += [(number, item) for item in held]
    return looked


def _deepest(located: list[tuple[FrameType, int, int]]) -> list[Any]:
    """Return the tensors of the deepest frames: those of the innermost frame that names any."""
    for frame, _, _ in reversed(located[-12:]):
        found: dict[int, Any] = {}
        for _, kind, value in scope.look(frame, 40):
            if kind == "tensor":
                found.setdefault(id(value), value)
        if found:
            return list(found.values())[:8]
    return []


def _last_line(exception: BaseException) -> str:
    return f"{name_of(exception)}: {message_of(exception)}\n"


def quiet() -> Any:
    """Prevent tensor subclasses of the user from running code while their attributes are read."""
    return torch._C.DisableTorchFunctionSubclass()
