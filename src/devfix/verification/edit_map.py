"""Map locations of edited files to those before the edit, and compare the causes of failures across edits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile

from devfix.model import Edit, Event, Failure, Operand, Outcome, Run, SourceLocation


def _blocks(edit: Edit) -> tuple[tuple[str, int, int, int, int], ...]:
    """Return the blocks of an edit as difflib's opcodes: tag, start and end before, start and end after."""
    old, new = edit.before.splitlines(), edit.after.splitlines()
    # Equal lines at both ends are skipped: difflib needs quadratic time for many equal (empty) lines.
    head = _equal(zip(old, new, strict=False))
    tail = _equal(zip(reversed(old[head:]), reversed(new[head:]), strict=False))
    found = [("equal", 0, head, 0, head)]
    middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    found += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in middle.get_opcodes()]
    found.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return tuple(found)


blocks = lru_cache(maxsize=64)(_blocks)  # called for each copying line and each event of a tensor


def _equal(pairs: Iterator[tuple[bytes, bytes]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def location_before(place: SourceLocation, edits: Iterable[Edit]) -> SourceLocation:
    """Return the location before the edits; without a column if its text was edited."""
    edit = next((each for each in edits if each.path == place.path), None)
    if edit is None or not place.owned:
        return place
    for tag, old_from, old_to, new_from, new_to in blocks(edit):
        if new_from <= place.line - 1 < new_to:
            if tag == "equal":
                shift = old_from - new_from
                end = None if place.end_line is None else place.end_line + shift
                return replace(place, line=place.line + shift, end_line=end)
            inside = min(old_from + place.line - 1 - new_from, max(old_from, old_to - 1))
            is_one = old_to - old_from == new_to - new_from
            column = _column_before(edit, inside, place) if is_one and place.column is not None else None
            return replace(place, line=inside + 1, end_line=None, column=column, end_column=None)
    return place


def _column_before(edit: Edit, old: int, place: SourceLocation) -> int | None:
    """Return the column before an edit; None if the text of the location was edited."""
    lines = edit.before.splitlines()[old], edit.after.splitlines()[place.line - 1]
    for start, begin, size in SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks():
        if begin <= (place.column or 0) < begin + size:
            return start + (place.column or 0) - begin
    return None


def is_edited(place: SourceLocation, edits: Iterable[Edit]) -> bool:
    """Return whether an edit changed or inserted the line of a location in the edited files."""
    edit = next((each for each in edits if each.path == place.path), None)
    return edit is not None and any(
        tag != "equal" and start < place.line <= stop for tag, *_, start, stop in blocks(edit)
    )


def touches(failure: Failure, edits: Iterable[Edit]) -> bool:
    """Return whether edits change a line of the stack of a failure, or of its operands' histories, or one beside it."""
    places = [frame.place for frame in failure.frames]
    places += [place for operand in failure.operands for event in operand.history for place in event.places]
    lines = {
        (place.path, line) for place in places for line in range(place.line - 1, (place.end_line or place.line) + 2)
    }
    return any(
        (edit.path, line) in lines
        for edit in edits
        for tag, start, stop, *_ in blocks(edit)
        if tag != "equal"
        for line in range(start + 1, max(stop, start + 1) + 1)
    )


def fails_in_edits(run: Run, edits: Iterable[Edit]) -> bool:
    """Return whether a run fails in an edited line for a reason unrelated to devices: the edit is wrong there."""
    at = run.failure.at if run.failure is not None and run.outcome is Outcome.OTHER else None
    return at is not None and is_edited(at, edits)


def has_same_root_cause(before: Failure, wrong: Operand | None, after: Failure, edits: Iterable[Edit]) -> bool:
    """Return whether a failure after an edit comes from the tensor that was blamed before it, or one derived from it.

    That is an operand with the same creation and the same history up to the failure. Two tensors cut from one, such as
    the inputs and labels of a data set, have the same creation and different histories. If the creation of the blamed
    tensor is unknown, the same failing location counts as the same cause.
    """
    edits = tuple(edits)
    if wrong is None or _origin(wrong.creation) is None:
        return before.at is not None and after.at is not None and _same(before.at, location_before(after.at, edits))
    way = _path(wrong, before)
    return any(
        operand.device == wrong.device
        and _has_prefix(_path(operand, after), way, edits)
        and not _is_moved_by_edit(operand, wrong, edits)
        for operand in after.operands
    )


def _is_moved_by_edit(operand: Operand, wrong: Operand, edits: tuple[Edit, ...]) -> bool:
    """Return whether an edited line moved an operand, so that the program itself moved it back."""
    return any(
        event.device != wrong.device and (place := event.owned_place) is not None and is_edited(place, edits)
        for event in operand.transfers
    )


def undoes_needed_move(before: Failure, wrong: Operand | None, after: Failure, edits: Iterable[Edit]) -> bool:
    """Return whether an edit takes back a move to a GPU in the failing expression, where its statement needs it.

    The tensor, or what it was moved from, then meets a tensor of that GPU in the statement that failed before. A move
    in a helper may be one of several that are wrong.
    """
    edits = tuple(edits)
    moves = [event for event in wrong.transfers if event.device == wrong.device] if wrong is not None else []
    place = moves[-1].owned_place if moves else None
    if wrong is None or place is None or wrong.device == "cpu" or before.at is None or after.at is None:
        return False
    there = location_before(after.at, edits)
    if not _within(place, before.at):
        return False
    if (there.path, there.function, there.line) != (before.at.path, before.at.function, before.at.line):
        return False
    way = [event for event in _path(wrong, before) if event is not moves[-1]]
    is_needed = any(each.device == wrong.device for each in after.operands)
    return (
        is_needed
        and _was_edited(place, edits)
        and any(each.device != wrong.device and _has_prefix(list(each.history), way, edits) for each in after.operands)
    )


def _was_edited(place: SourceLocation, edits: tuple[Edit, ...]) -> bool:
    """Return whether an edit changed the line of a location in the files before it."""
    return any(
        tag != "equal" and start < place.line <= stop
        for edit in edits
        if edit.path == place.path
        for tag, start, stop, *_ in blocks(edit)
    )


def is_created_in_edits(after: Failure, edits: Iterable[Edit]) -> bool:
    """Return whether a failure after the edit involves a tensor that an edited line creates."""
    edits = tuple(edits)
    places = (_origin(operand.creation) for operand in after.operands)
    return any(place is not None and is_edited(place, edits) for place in places)


def involves_moved_tensor(after: Failure, edits: Iterable[Edit]) -> bool:
    """Return whether a failure after the edit involves a tensor that an edited line moved."""
    edits = tuple(edits)
    places = (event.owned_place for operand in after.operands for event in operand.transfers)
    return any(place is not None and is_edited(place, edits) for place in places)


def is_turned_round(before: Failure | None, after: Failure | None, edits: Iterable[Edit]) -> bool:
    """Return whether the expression that failed fails again, with the devices of its operands exchanged.

    What it meets is now on one device and now on another one, so that no place is right in which a tensor stays.
    """
    if before is None or after is None or before.at is None or after.at is None:
        return False
    devices = {each.argument: each.device for each in before.operands}
    changed = {(devices.get(each.argument, each.device), each.device) for each in after.operands}
    exchanged = any(one != other and (other, one) in changed for one, other in changed)
    return exchanged and _same(before.at, location_before(after.at, edits))


def is_repeated(before: Failure | None, after: Failure | None, edits: Iterable[Edit]) -> bool:
    """Return whether the expression that failed fails again, with its operands on the devices where they were.

    What the edit moved was then moved back by the program, which has its own reason for the place.
    """
    if before is None or after is None or before.at is None or after.at is None:
        return False
    one, other = ([(each.argument, each.device) for each in failure.operands] for failure in (before, after))
    return bool(one) and one == other and _same(before.at, location_before(after.at, edits))


def _path(operand: Operand, failure: Failure) -> list[Event]:
    """Return the events of an operand before the failing expression, which itself may view or cast it."""
    events = list(operand.history)
    at = failure.at
    while len(events) > 1 and at and (place := events[-1].owned_place) is not None and _within(place, at):
        events.pop()
    return events


def _within(place: SourceLocation, whole: SourceLocation) -> bool:
    """Return whether a location is inside the expression at another one."""
    if (place.path, place.function) != (whole.path, whole.function) or place.column is None or whole.column is None:
        return False
    first, last = (whole.line, whole.column), (whole.end_line or whole.line, whole.end_column or 0)
    return first <= (place.line, place.column) and (place.end_line or place.line, place.end_column or 0) <= last


def _has_prefix(events: list[Event], way: list[Event], edits: tuple[Edit, ...]) -> bool:
    """Return whether the events after an edit start with the events of a path before it."""
    return len(events) >= len(way) and all(
        one.op == other.op and _happened_at(one, other, edits) for one, other in zip(way, events, strict=False)
    )


def _happened_at(one: Event, other: Event, edits: tuple[Edit, ...]) -> bool:
    before, after = _origin(one), _origin(other)
    if before is None or after is None:
        return before is after
    return _same(before, location_before(after, edits))


def _origin(creation: Event | None) -> SourceLocation | None:
    return creation.places[0] if creation and creation.places else None


def _same(one: SourceLocation, other: SourceLocation) -> bool:
    columns = other.column is None or one.column is None or one.column == other.column
    return (one.path, one.line, one.function) == (other.path, other.line, other.function) and columns
