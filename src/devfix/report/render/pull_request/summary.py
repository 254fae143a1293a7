"""A report as Markdown: the summary of a job, and the parts of pull requests and comments."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from devfix.model import DeviceType, World
from devfix.report.failure_types import OperandRecord
from devfix.report.plain import tail
from devfix.report.render.pull_request.templating import markdown, render
from devfix.report.render.terminal.fix import copies, counted_equivalents, equivalents, outcome_text
from devfix.report.render.terminal.headline import doubts, headline, why_not_sought
from devfix.report.render.terminal.tensors import CREATIONS, shape
from devfix.report.types import FixRecord, ReportRecord

LIMIT = 60_000  # characters: GitHub takes 65,536 in a pull request or a comment


def summary(data: ReportRecord, templates: Path | None = None) -> str:
    """Return the report as GitHub's Markdown; `templates` may have a summary.md.jinja of the user."""
    return shorten(render(markdown("devfix.report", templates), "summary.md.jinja", **view(data)))


def view(data: ReportRecord, fixes: Mapping[int, FixRecord] | None = None) -> dict[str, Any]:
    """Return the variables of the templates: the report, its failures with their fixes, the command to reproduce it.

    `fixes` maps indexes of failures to the fixes to include; by default, all of them.
    """
    chosen = fixes if fixes is not None else {fix.failure: fix for fix in data.fixes}
    indexes = sorted(chosen) if fixes is not None else range(len(data.failures))
    run = data.last_run
    return {
        "report": data,
        "headline": headline(data).plain.split("\n")[0],
        "doubts": list(doubts(data)),
        "failures": [_failure(data, index, chosen.get(index)) for index in indexes],
        "reproduce": reproduce(data),
        "torch": run.torch if run else "",
        "output": tail(run.stderr or run.stdout, 30)
        if run and (data.remaining_failure or not data.failures) and not data.obstacle
        else "",
    }


def reproduce(data: ReportRecord) -> str:
    """Return the command that reproduces the failure and the fix at the top of the repository."""
    device = data.world.device if data.world else DeviceType.CUDA
    world = "simulated" if device is DeviceType.CUDA else device.value
    words = ["devfix", "repair", data.subfolder or ".", "--run", data.command, *data.until, "--world", world]
    if device.most > 1:
        words += ["--gpus", str(max(data.world.gpus if data.world else 1, 1))]
    return shlex.join([*words, "--dry-run"])


def shorten(text: str) -> str:
    """Cut a text to GitHub's limit, at the end of a line and outside of blocks of code."""
    if len(text) <= LIMIT:
        return text
    kept = text[:LIMIT].rpartition("\n")[0]
    fences = [line for line in kept.split("\n") if line.startswith("```")]
    return kept + ("\n" + fences[-1].rstrip("abcdefghijklmnopqrstuvwxyz") if len(fences) % 2 else "") + "\n\n…\n"


def _failure(data: ReportRecord, index: int, fix: FixRecord | None) -> dict[str, Any]:
    failure = data.failures[index]
    rejected = [tried for tried in data.rejected if tried.failure == index]
    same = len(equivalents(rejected, [fix] if fix else []))
    return {
        "number": index + 1,
        "failure": failure,
        "at": failure.at,
        "findings": failure.findings,
        "tensors": [_tensor(operand) for operand in failure.operands],
        "fix": fix,
        "not_sought": why_not_sought(data, index),
        "worlds": list(_worlds(data, fix)) if fix else [],
        "test": fix.regression_test if fix else None,
        "similar_sites": fix.similar_sites if fix else (),
        "copies": copies(fix.verdict.transfers) if fix else "",
        "equivalents": counted_equivalents(same) if same else "",
        "rejected": [
            {
                "title": tried.title,
                "said": outcome_text(tried.verdict),
                "reason": tried.verdict.reason,
            }
            for tried in rejected
        ],
    }


def _tensor(operand: OperandRecord) -> dict[str, Any]:
    created = operand.creation
    moves = [move for move in operand.transfers if move != created]
    return {
        "name": operand.name,
        "device": operand.device,
        "owner_kind": operand.owner_kind,
        "created": created,
        "kind": " ".join(part for part in (operand.dtype, shape(operand.shape)) if part),
        "creation": CREATIONS.get(created.kind, created.kind) if created else "not recorded",
        "moved": [{"device": move.device, "path": move.path, "line": move.line} for move in moves],
    }


def _worlds(data: ReportRecord, fix: FixRecord) -> Iterator[dict[str, str]]:
    world = data.world
    home = World(world.kind, world.gpus, world.current, world.device).name if world else ""
    before = {home: "failed", **fix.verdict.before}
    for name, after in fix.verdict.worlds.items():
        yield {"name": name, "before": before.get(name, ""), "after": after}
