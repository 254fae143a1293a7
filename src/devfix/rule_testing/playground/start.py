"""The contents of the page at its start: a rule of the catalog with its first failing case, or a small example."""

from __future__ import annotations

from devfix.errors import UserError
from devfix.registry import Rule
from devfix.rule_testing.pages.case import PROGRAM
from devfix.rule_testing.pages.page import read_page
from devfix.rule_testing.playground.answer import Language, Submission

EXAMPLE_PROGRAM = """\
import torch


class Gate:
    def __init__(self, size):
        self.values = torch.full((size,), 0.5)

    def __call__(self, x):
        return x * self.values


device = "cuda" if torch.cuda.is_available() else "cpu"
print(Gate(3)(torch.ones(2, 3).to(device)).sum().item())
"""
EXAMPLE_RULE = """\
title = "A gate is not a module, so its values were not moved."
message = "A gate's values were never moved to {peer}."

[[fix]]
at = "use"
attribute = "values"
edit = "move-argument"
"""


def example() -> Submission:
    """Return a small program with a rule that repairs it."""
    return Submission({PROGRAM: EXAMPLE_PROGRAM}, EXAMPLE_RULE, Language.TOML)


def start_of(rule: Rule) -> Submission:
    """Return a rule with its first failing case. Raises UserError if it has none, or one with files of others."""
    for case in read_page(rule.page).cases:
        if case.failure is not None and not case.foreign and not case.options and case.world.name == "cuda x1":
            files = {name: data.decode() for name, data in case.before.items()}
            return Submission(files, rule.path.read_text("utf-8"), Language(rule.path.suffix[1:]))
    raise UserError(f"{rule.id}: has no failing case for one GPU without options and files of others, to begin with")
