"""How a case went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from devfix.model import Safety
from devfix.rule_testing.case import Case


@dataclass(frozen=True)
class Trouble:
    """What is wrong with a case, in one line, and what shows it."""

    what: str
    shown: str = ""


@dataclass(frozen=True)
class Result:
    """How a case went: `told` is the failure seen, `after` what the rule's first change made of the files.

    `safety` is that change's; None if there is none, or should be none.
    """

    rule: str
    case: Case
    troubles: tuple[Trouble, ...]
    told: str = ""
    after: Mapping[str, bytes] | None = None
    safety: Safety | None = None

    @property
    def name(self) -> str:
        """The rule and the case."""
        return f"{self.rule}: {self.case.name}"
