"""Failures of tests -> causes: where the stray tensor comes from, and the rule that explains it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.find.records import Cause, Evidence, Line, Remedy
from devfix.find.results import Served, SilentFinding
from devfix.find.suites import SuiteKind
from devfix.model import Diagnosis, Event, Failure, Operand, Patch, SilentKind, SourceLocation
from devfix.registry import Rule
from devfix.report.find_types import CauseKind, Confidence
from devfix.sdk import Sources

RAISES: CauseKind = "raises"
HANDLED: CauseKind = "handled"
UNEXPLAINED = ""
HOST = "cpu"
NOWHERE = SourceLocation("", 1)
_CONSTRUCTOR = ".__init__"
_HANDLER = "__torch_function__"  # of a class of tensors: it runs what its caller has called
IsTest = Callable[[SourceLocation], bool]


@dataclass(frozen=True)
class Explanation:
    """The diagnoses of the rule that explains a failure, and the first change of it to what keeps the tensor."""

    diagnoses: tuple[Diagnosis, ...] = ()
    remedy: Remedy = ()


def explain_failure(failure: Failure, rules: Sequence[Rule], sources: Sources) -> Explanation:
    """Return how the first rule explains a failure that finds something to change."""
    diagnoses = diagnose(failure, rules, sources)
    patch = next(propose(diagnoses, {rule.id: rule for rule in rules}, sources), None)
    if patch is None:
        return Explanation()
    found = tuple(each for each in diagnoses if each.rule == patch.rule)
    is_kept = found[0].finding.operand < len(failure.operands) and _is_kept(failure.operands[found[0].finding.operand])
    remedy = tuple(sorted((edit.path, edit.after) for edit in patch.edits))
    return Explanation(found, remedy if is_kept or _is_ahead(patch, failure) else ())


def _is_kept(operand: Operand) -> bool:
    """Return whether a module has a tensor as an attribute: what changes that is a remedy for all that it keeps so."""
    return operand.owner is not None and operand.owner.kind == "attribute"


def _is_ahead(patch: Patch, failure: Failure) -> bool:
    """Return whether a patch changes none of the lines that run as a tensor fails, but what has run before.

    Where it is used, tensors of several lines may be moved by one change; as it was made, one is.
    """
    running = {(frame.place.path, frame.place.line) for frame in failure.frames}
    return all((edit.path, edit.line) not in running for edit in patch.edits)


@dataclass(frozen=True)
class Seen:
    """A test, how it runs, the GPU on which its inputs were, and the options of pytest with which it showed something.

    `past` are the lines at which it did not fail, by causes that were known.
    """

    test: str
    suite: SuiteKind
    device: str
    shown_by: tuple[str, ...] = ()
    past: tuple[str, ...] = ()


def cause_of(failure: Failure, seen: Seen, explained: Explanation, is_test: IsTest) -> Cause:
    """Return the cause of one test's failure, with what explains it."""
    best = explained.diagnoses[0] if explained.diagnoses else None
    failing = _failing(failure, is_test)
    origin = _origin(failure, best, is_test)
    return Cause(
        kind=RAISES,
        place=origin.place if origin else failing,
        failing=failing,
        rule=best.rule if best else UNEXPLAINED,
        title=best.title if best else "No rule knows this failure",
        failure=failure,
        diagnoses=explained.diagnoses,
        tests=(seen.test,),
        devices=(seen.device,),
        suite=seen.suite,
        shown_by=seen.shown_by,
        past=seen.past,
        made=origin.made if origin else (),
        remedy=explained.remedy,
    )


def handled_cause(failure: Failure, seen: Seen, explained: Explanation, is_test: IsTest) -> Cause:
    """Return the cause of a failure that the code under test, or the test, has caught."""
    return replace(cause_of(failure, seen, explained, is_test), kind=HANDLED)


def stale_cause(failure: Failure, served: Served, seen: Seen, explained: Explanation) -> Cause:
    """Return the cause of a failure by a tensor that a cache has served: the line that created it."""
    found = SilentFinding(
        SilentKind.STALE_CACHE,
        served.path,
        served.line,
        served.function,
        served.function,
        (served.path, served.line),
        "",
    )
    cause = silent_cause(found, seen)
    at = failure.at or cause.place
    return replace(_with_explanation(cause, failure, explained), failing=at)


def silent_cause(found: SilentFinding, seen: Seen) -> Cause:
    """Return the cause of what a test has shown without failing."""
    place = SourceLocation(found.path, found.line, found.function, owned=True)
    entered = SourceLocation(*found.entered, found.call)
    return Cause(
        kind=found.kind.value,
        place=place,
        failing=place,
        rule=UNEXPLAINED,
        title=_title(found),
        failure=None,
        diagnoses=(),
        tests=(seen.test,),
        devices=(seen.device,),
        evidence=Evidence(found.call, entered, found.attribute, found.is_told),
        suite=seen.suite,
        past=seen.past,
        shown_by=seen.shown_by,
    )


def _title(found: SilentFinding) -> str:
    if found.is_told:
        return f"`{found.call}` is told the GPU by its `device`, and leaves its result on the CPU"
    if found.kind is SilentKind.RESULT_ON_HOST:
        return f"`{found.call}` is given tensors on a GPU alone, and leaves its result on the CPU"
    if found.kind is SilentKind.NOT_MOVED:
        return f"`.to` does not move what `{found.attribute}` keeps, which is used after the move"
    return f"`{found.function}` keeps a tensor of the device of its first call, and serves it to calls on others"


def _with_explanation(cause: Cause, failure: Failure, explained: Explanation) -> Cause:
    rule = explained.diagnoses[0].rule if explained.diagnoses else UNEXPLAINED
    return replace(cause, rule=rule, failure=failure, diagnoses=explained.diagnoses, remedy=explained.remedy)


def confirmed_silent(
    cause: Cause, again: Iterable[SilentFinding | Served], failure: Failure | None, explained: Explanation
) -> Cause:
    """Return a silent cause with what its first test has shown alone, in a strict run, and the failure of that."""
    came = [each for each in again if (each.path, each.line) == _place(cause.place)]
    if not came:
        return replace(cause, confirmed=False, confidence="low")
    cause = replace(cause, confirmed=True, confidence="medium")
    return cause if failure is None else _with_explanation(cause, failure, explained)


def confirm_cause(cause: Cause, again: Iterable[Failure], is_test: IsTest) -> Cause:
    """Return a cause with the result of its first test, run alone: the failures that it ended by or caught."""
    first, at = cause.failure, _place(cause.failing)
    if first is None or not any(each.kind == first.kind and _place(_failing(each, is_test)) == at for each in again):
        return replace(cause, confirmed=False, confidence="low")
    confidence: Confidence = "high" if cause.rule and cause.kind == RAISES else "medium"
    return replace(cause, confirmed=True, confidence=confidence)


def _place(location: SourceLocation) -> tuple[str, int]:
    return location.path, location.line


def failing_place(failure: Failure, is_test: IsTest) -> str:
    """Return the path and line of the code under test that handed the tensors over; "" where there is none."""
    place = _failing(failure, is_test)
    return f"{place.path}:{place.line}" if place.owned else ""


def _failing(failure: Failure, is_test: IsTest) -> SourceLocation:
    """Return where the code under test handed the tensors over."""
    own = [frame.place for frame in failure.owned_frames if not is_test(frame.place)]
    own = [place for place in own if place.function.rpartition(".")[2] != _HANDLER] or own
    return own[-1] if own else failure.at or NOWHERE


@dataclass(frozen=True)
class _Origin:
    """The place that a stray tensor comes from, and the lines of the code under test that made it, innermost first."""

    place: SourceLocation
    made: tuple[Line, ...]


def _origin(failure: Failure, best: Diagnosis | None, is_test: IsTest) -> _Origin | None:
    """Return where the operand that is wrong comes from; without a rule, the one of the host that has such a place.

    What is handed to NumPy is right to be on a GPU: only the line that hands it over is at fault.
    """
    if failure.kind == "numpy-on-device":
        return None
    if best is not None and best.finding.operand < len(failure.operands):
        origin = _stray_from(failure.operands[best.finding.operand], is_test)
        if origin is not None:
            return origin
    strays = (each for each in failure.operands if each.device == HOST)
    return next((origin for each in strays if (origin := _stray_from(each, is_test)) is not None), None)


def _stray_from(operand: Operand, is_test: IsTest) -> _Origin | None:
    """Return where the code under test made a tensor, or where it took to the host what others made."""
    events = [(_creation_place(operand, is_test), operand.creation)]
    if operand.device == HOST:
        events += [(each.owned_place, each) for each in reversed(operand.transfers) if each.device == HOST]
    for place, event in events:
        if place is not None and event is not None and place.owned and not is_test(place):
            return _Origin(place, _lines(event, is_test))
    return None


def _lines(event: Event, is_test: IsTest) -> tuple[Line, ...]:
    """Return the lines of the code under test that an event ran in, from the innermost outward to the test."""
    own = takewhile(lambda place: not is_test(place), (place for place in event.places if place.owned))
    return tuple((place.path, place.line) for place in own)


def _creation_place(operand: Operand, is_test: IsTest) -> SourceLocation | None:
    """Return where a tensor was made; of one that is an attribute of a module, where the module took it.

    A parameter or a buffer moves with its module: where the code under test has constructed that, it was left behind.
    """
    event, owner = operand.creation, operand.owner
    if event is None:
        return None
    made = event.owned_place or (event.places[0] if event.places else None)
    if owner is None:
        return made
    if owner.kind != "attribute":
        outward = dropwhile(lambda each: not each.function.endswith(_CONSTRUCTOR), event.places)
        constructs = next((each for each in outward if not each.function.endswith(_CONSTRUCTOR)), None)
        return made if constructs is None or not constructs.owned or is_test(constructs) else constructs
    own = (each for each in event.places if each.owned and each.function.startswith(f"{owner.type}."))
    constructors = (each for each in event.places if each.owned and each.function.endswith(_CONSTRUCTOR))
    return next(own, None) or next(constructors, None) or made
