"""Run what is written on the page: the program on simulated GPUs, and the rule on its failure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path

from msgspec import Struct

from devfix.errors import DevfixError
from devfix.model import Failure, World
from devfix.registry import Rule
from devfix.registry.loading import rule_at
from devfix.rule_testing.checking.format import differences, format_ending, format_failure
from devfix.rule_testing.checking.proposal import Proposal, files_after, proposal_for, sources_of
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.pages.case import PROGRAM, Case
from devfix.rule_testing.views.context_text import context_text
from devfix.rule_testing.views.context_view import view_of


class Language(str, Enum):
    """The form of a rule; the value is the suffix of its file."""

    PYTHON = "py"
    TOML = "toml"


class Submission(Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of the page: the program's files, and the rule. `verify`: run the program with each change."""

    files: Mapping[str, str]
    rule: str
    language: Language
    verify: bool = False


class ShownChange(Struct, frozen=True):
    """A change that the rule proposes."""

    title: str
    safety: str
    diff: str


class Answer(Struct, frozen=True):
    """The answer to show; `verified` has what is wrong with the changes, and is None if they were not run."""

    failure: str
    rule_error: str = ""
    finding: str = ""
    why_nothing: str = ""
    changes: tuple[ShownChange, ...] = ()
    remarks: tuple[str, ...] = ()
    output: str = ""
    context: str = ""
    verified: tuple[str, ...] | None = None


def run_case(submission: Submission, bench: Bench, folder: Path) -> Answer:
    """Return what a rule makes of a program. The rule's file is written below `folder`."""
    files = {name: text.encode() for name, text in submission.files.items()}
    case = Case("playground", 1, World("simulated", 1), {}, files, {}, "", None, (), PROGRAM)
    failure, run = bench.failing(case)
    if failure is None:
        return Answer(f"does not fail on a device: {format_ending(run)}")
    answer = Answer(format_failure(failure), context=context_text(view_of(PROGRAM, failure, sources_of(case)), False))
    try:
        rule = _rule(submission, folder)
    except DevfixError as error:
        return _with(answer, rule_error=str(error).replace(f"{folder}/", ""))
    proposal = proposal_for(rule, case, failure)
    verified = _find_problems(rule, case, failure, proposal, bench) if submission.verify else None
    return _with(_add_proposal(answer, case, proposal), verified=verified)


def _rule(submission: Submission, folder: Path) -> Rule:
    # A folder for each text: Python takes a module of the same second and size for the same one.
    digest = hashlib.sha256(submission.rule.encode()).hexdigest()[:16]
    path = folder / digest / "playground" / f"rule.{submission.language.value}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(submission.rule, "utf-8")
    try:
        return rule_at(path)
    except DevfixError as error:
        raise type(error)(str(error).replace(f"{path.resolve()}", path.name)) from error


def _add_proposal(answer: Answer, case: Case, proposal: Proposal) -> Answer:
    findings = [f"({each.finding.confidence.word}) {each.finding.reason}" for each in proposal.diagnoses]
    changes = (
        ShownChange(each.title, str(each.safety), differences(case.before, files_after(case, each), "before", "change"))
        for each in proposal.patches
    )
    return _with(
        answer,
        finding="\n".join(findings),
        why_nothing=proposal.why_nothing,
        changes=tuple(changes),
        remarks=(*proposal.notes, *proposal.remarks),
        output=proposal.output,
    )


def _find_problems(rule: Rule, case: Case, failure: Failure, proposal: Proposal, bench: Bench) -> tuple[str, ...]:
    """Return what is wrong with the changes, as `devfix test` says it of a case whose `after` is the first of them."""
    if not proposal.patches:
        return ()
    expected = replace(case, failure=format_failure(failure), after=files_after(case, proposal.patches[0]))
    return tuple(each.what for each in bench.check(rule, expected).problems)


def _with(answer: Answer, **values: object) -> Answer:
    return Answer(**{**{name: getattr(answer, name) for name in answer.__struct_fields__}, **values})
