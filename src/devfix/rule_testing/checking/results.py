"""The result of a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from devfix.model import Safety
from devfix.rule_testing.pages.case import Case


@dataclass(frozen=True)
class Problem:
    """A problem of a case, in one line, with the evidence."""

    what: str
    shown: str = ""


@dataclass(frozen=True)
class Result:
    """The result of a case: `failure_text` is the actual failure, `after` the files after the rule's first change.

    `safety` is that change's; None if there is none, or should be none. `why_nothing` says why the rule changes
    nothing, `remarks` what an author should know beside the problems, `output` what the rule printed, with tracebacks.
    """

    rule: str
    case: Case
    problems: tuple[Problem, ...]
    failure_text: str = ""
    after: Mapping[str, bytes] | None = None
    safety: Safety | None = None
    why_nothing: str = ""
    remarks: tuple[str, ...] = ()
    output: str = ""

    @property
    def name(self) -> str:
        """The rule and the case."""
        return f"{self.rule}: {self.case.name}"
