"""Turn diagnoses into patches: the changes that each rule proposes, without duplicates."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from devfix.errors import RuleError
from devfix.model import Diagnosis, Edit, Patch, Rejected, Safety, SourceLocation
from devfix.notes import Notes
from devfix.registry import Rule
from devfix.registry.suppressions import find_suppressions, list_touched_lines
from devfix.registry.timeout import describe_error, within
from devfix.sdk import Change, Context, Sources
from devfix.sdk.declining import Declined
from devfix.source import check_syntax

CHANGES_A_RULE = 16
BEYOND = f"only the first {CHANGES_A_RULE} candidates of a rule are taken"
SECONDS = 60.0  # LibCST needs seconds for the positions in a file of ten thousand lines


def propose(
    diagnoses: Sequence[Diagnosis],
    rules: Mapping[str, Rule],
    source: Sources,
    seconds: float = SECONDS,
    rejected: list[Rejected] | None = None,
    declined: dict[str, str] | None = None,
) -> Iterator[Patch]:
    """Yield every candidate once, in the order of the diagnoses and, within one, of the rule.

    A rule that raises, yields something else than a change, or takes longer than `seconds` is skipped, with a note in
    `source`. Candidates that are not tried, because another rule proposed the same or a rule has too many, are added to
    `rejected`. Why a rule declined to propose changes is added to `declined`.
    """
    seen: dict[tuple[tuple[str, bytes], ...], str] = {}
    rejected = [] if rejected is None else rejected
    declined = {} if declined is None else declined
    for diagnosis in diagnoses:
        if _is_ignored(diagnosis, source):
            continue
        for number, change in enumerate(_changes(rules[diagnosis.rule], diagnosis, source, seconds, declined)):
            key = tuple(sorted((edit.path, edit.after) for edit in change.edits))
            reason = " ".join(filter(None, (diagnosis.finding.reason, change.reason)))
            rank = (int(diagnosis.finding.confidence), number)
            edits = source.pair_edits(change.edits)
            made = diagnosis.rule, change.title, reason, change.safety, edits, rank
            patch = Patch(*made, joint=change.joint, recomputes=change.recomputes)
            if number >= CHANGES_A_RULE:
                rejected.append(Rejected(patch, BEYOND))
            elif any(_is_suppressed(edit, diagnosis.rule, source.notes) for edit in change.edits):
                rejected.append(Rejected(patch, "a comment at the line asks the rule to leave it alone"))
            elif key in seen:
                if seen[key] != diagnosis.rule:
                    rejected.append(Rejected(patch, f"the same change as that of {seen[key]}, which comes first"))
            else:
                seen[key] = diagnosis.rule
                yield patch


def _changes(
    rule: Rule, diagnosis: Diagnosis, source: Sources, seconds: float, declined: dict[str, str]
) -> Iterator[Change]:
    spent = 0.0
    ctx = Context(diagnosis.failure, source, diagnosis.finding)
    try:
        changes = iter(within(seconds, partial(rule.propose, ctx)))
        for _ in range(CHANGES_A_RULE + 1):  # one more than allowed, so that the excess is reported
            began = time.monotonic()
            change = within(max(0.001, seconds - spent), partial(next, changes, None))
            spent += time.monotonic() - began
            if change is None:
                return
            if wrong := _invalid(change) or _find_wrong_edit(change, source):
                raise RuleError(f"yielded {wrong}")
            yield change
    except Declined as error:
        declined[rule.id] = str(error)
    except Exception as error:
        source.notes.add(f"rule {rule.id} disabled: propose {describe_error(error)}")


def _invalid(change: object) -> str:
    """Return what is wrong with a value that a rule yielded; "" if it is a valid change."""
    if not isinstance(change, Change):
        return f"{type(change).__name__}, expected a Change"
    if not isinstance(change.title, str) or not change.title or not isinstance(change.safety, Safety):
        return f"a Change whose title is {change.title!r} and whose safety is {change.safety!r}"
    if (
        not isinstance(change.edits, tuple)
        or not change.edits
        or not all(isinstance(each, Edit) for each in change.edits)
    ):
        return "a Change without edits"
    paths = [edit.path for edit in change.edits]
    return "a Change with two edits of one file" if len(set(paths)) < len(paths) else ""


def _find_wrong_edit(change: Change, source: Sources) -> str:
    """Return what is wrong with the files of a change; "" if each edit starts from an editable file's current state."""
    for edit in change.edits:
        file = source.file(SourceLocation(edit.path, max(1, edit.line), owned=True))
        if file is None:
            return f"an edit of {edit.path!r}, which is not to be edited"
        if file.data != edit.before or edit.after == edit.before:
            return f"an edit of {edit.path!r} that does not begin with what is there, or changes nothing"
        if wrong := _syntax_error(edit):
            return f"an edit of {edit.path!r} that is not valid Python: {wrong}"
    return ""


def _syntax_error(edit: Edit) -> str:
    """Return why the file would not compile after an edit, with the line there; "" if it would."""
    try:
        check_syntax(edit.path, edit.after)
    except SyntaxError as error:
        lines = edit.after.decode("utf-8", "replace").splitlines()
        line = lines[error.lineno - 1].strip()[:80] if error.lineno and error.lineno <= len(lines) else ""
        return f"{error.msg}, in line {error.lineno}: {line}"
    except ValueError as error:
        return str(error)
    return ""


def _is_ignored(diagnosis: Diagnosis, source: Sources) -> bool:
    """Return whether a comment at the failing line, or where the blamed tensor is created, suppresses the rule."""
    operands = diagnosis.failure.operands
    creation = operands[diagnosis.finding.operand].creation if operands else None
    for place in (diagnosis.failure.at, creation.owned_place if creation else None):
        file = source.file(place) if place is not None else None
        if place is None or file is None:
            continue
        lines = find_suppressions(file.data, diagnosis.rule)
        if place.line in lines:
            source.notes.add(_suppression_note(diagnosis.rule, place.path, place.line, lines[place.line]))
            return True
    return False


def _is_suppressed(edit: Edit, rule: str, notes: Notes) -> bool:
    lines = find_suppressions(edit.before, rule)
    line = next((line for line in list_touched_lines(edit) if line in lines), 0) if lines else 0
    if line:
        notes.add(_suppression_note(rule, edit.path, line, lines[line]))
    return bool(line)


def _suppression_note(rule: str, path: str, line: int, reason: str) -> str:
    return f"{path}:{line}: rule {rule} is suppressed by a comment: {reason or '(no reason given)'}"
