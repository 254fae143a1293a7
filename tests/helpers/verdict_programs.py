"""Repositories with one failure, and local rules whose only change is the text that a test hands them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from git_repositories import make_repository

import devfix
from devfix.model import Report

PROGRAM = """import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def total(weight, bias):
    first = weight * 2
    return (first + bias).sum()


weight = torch.ones(3).to(device)
bias = torch.ones(3)
for _ in range(3):
    answer = total(weight, bias)
print(f"{answer.item():.1f}")
"""
RULE = '''"""Change what the test says."""

from devfix.model import Edit
from devfix.sdk import Change, Rule, Safety

CHANGES = {changes!r}


class AsTold(Rule):
    def diagnose(self, ctx):
        found = next(ctx.suspects(), ctx)
        return found.report("It is the one to blame.") if ctx.failure.operands else None

    def propose(self, ctx):
        file = ctx.sources.file(ctx.failure.at)
        for old, new in CHANGES:
            assert file.data.count(old.encode()) == 1, old
            after = file.data.replace(old.encode(), new.encode())
            yield Change(f"Write {{new!r}}", Safety.UNSURE, (Edit(file.path, 1, file.data, after),))
'''
RIGHT = ("bias = torch.ones(3)", "bias = torch.ones(3).to(device)")


def project(folder: Path, program: str = PROGRAM, **files: str) -> Path:
    return make_repository(folder / "project", {"main.py": program, **files})


def rules_that(folder: Path, changes: Sequence[tuple[str, str]]) -> Path:
    pack = folder / "rules" / "acme"
    pack.mkdir(parents=True)
    (pack / "as_told.py").write_text(RULE.format(changes=list(changes)))
    (pack / "as_told.md").write_text("# Change what the test says\n")
    return pack.parent


def judged(folder: Path, *changes: tuple[str, str], program: str = PROGRAM, gpus: int = 1, **more: object) -> Report:
    """Repair the program with these changes as the only candidates."""
    root = project(folder, program)
    (root / "devfix.toml").write_text('select = ["acme"]\n')
    return devfix.repair(
        root, run="python main.py", world="simulated", gpus=gpus, rules=[rules_that(folder, changes)], **more
    )


def rejected(report: Report) -> list[str]:
    """What is said of each candidate that was not kept, in their order."""
    return [f"{fix.verdict.outcome}: {fix.verdict.reason}" for repair in report.repairs for fix in repair.rejected]
