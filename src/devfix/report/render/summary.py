"""A report as Markdown: the summary of a job, and the parts of pull requests and comments."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from devfix.model import World
from devfix.report.render.fix import copies, counted_equivalents, equivalents, said
from devfix.report.render.headline import doubts, headline
from devfix.report.render.plain import tail
from devfix.report.render.templating import markdown, render
from devfix.report.render.tensors import CREATIONS, shape

Record = Mapping[str, Any]

_PLACE = {"function": "", "owned": False, "source": ""}  # the optional keys of a place
LIMIT = 60_000  # characters: GitHub takes 65,536 in a pull request or a comment


def summary(data: Record, templates: Path | None = None) -> str:
    """Return the report as GitHub's Markdown; `templates` may have a summary.md.jinja of the user."""
    return shortened(render(markdown("devfix.report", templates), "summary.md.jinja", **view(data)))


def view(data: Record, fixes: Mapping[int, Record] | None = None) -> dict[str, Any]:
    """Return the variables of the templates: the report, its failures with their fixes, the command to reproduce it.

    `fixes` maps indexes of failures to the fixes to include; by default, all of them.
    """
    chosen = fixes if fixes is not None else {fix.get("failure", 0): fix for fix in data["fixes"]}
    indexes = sorted(chosen) if fixes is not None else range(len(data["failures"]))
    run = data["last_run"]
    return {
        "report": data,
        "headline": headline(data).plain.split("\n")[0],
        "doubts": list(doubts(data)),
        "failures": [_failure(data, index, chosen.get(index)) for index in indexes],
        "reproduce": reproduce(data),
        "torch": (run or {}).get("torch", ""),
        "output": tail(run["stderr"] or run["stdout"], 30)
        if run and (data.get("behind") or not data["failures"]) and "obstacle" not in data
        else "",
    }


def reproduce(data: Record) -> str:
    """Return the command that reproduces the failure and the fix at the top of the repository."""
    world = data["world"] or {}
    words = ["devfix", "repair", data.get("subfolder") or ".", "--run", data["command"], "--world", "simulated"]
    return shlex.join([*words, "--gpus", str(max(world.get("gpus", 1), 1)), "--dry-run"])


def shortened(text: str) -> str:
    """Cut a text to GitHub's limit, at the end of a line and outside of blocks of code."""
    if len(text) <= LIMIT:
        return text
    kept = text[:LIMIT].rpartition("\n")[0]
    fences = [line for line in kept.split("\n") if line.startswith("```")]
    return kept + ("\n" + fences[-1].rstrip("abcdefghijklmnopqrstuvwxyz") if len(fences) % 2 else "") + "\n\n…\n"


def _failure(data: Record, index: int, fix: Record | None) -> dict[str, Any]:
    failure = data["failures"][index]
    rejected = [tried for tried in data["dropped"] if tried.get("failure", 0) == index]
    same = len(equivalents(rejected, [fix] if fix else []))
    return {
        "number": index + 1,
        "failure": failure,
        "at": {**_PLACE, **failure["at"]} if failure["at"] else None,
        "blamed": failure.get("blamed", []),
        "tensors": [_tensor(operand) for operand in failure["operands"]],
        "fix": fix,
        "worlds": list(_worlds(data, fix)) if fix else [],
        "test": (fix or {}).get("test"),
        "neighbours": (fix or {}).get("neighbours", []),
        "copies": copies(fix["verdict"]["transfers"]) if fix else "",
        "equivalents": counted_equivalents(same) if same else "",
        "dropped": [
            {
                "title": tried["title"],
                "said": said(tried["verdict"]),
                "because": tried["verdict"].get("because", ""),
            }
            for tried in rejected
        ],
    }


def _tensor(operand: Record) -> dict[str, Any]:
    born = operand["born"]
    moves = [move for move in operand.get("moves", ()) if move != born]
    return {
        "name": operand["name"],
        "device": operand["device"],
        "held_as": operand.get("held_as", ""),
        "born": {**_PLACE, **born} if born else None,
        "kind": " ".join(part for part in (operand["dtype"], shape(operand["shape"])) if part),
        "creation": CREATIONS.get(born["kind"], born["kind"]) if born else "not recorded",
        "moved": [{"device": move["device"], "path": move["path"], "line": move["line"]} for move in moves],
    }


def _worlds(data: Record, fix: Record) -> Iterator[dict[str, str]]:
    world = data["world"] or {}
    home = World(world.get("kind", ""), world.get("gpus", 0), world.get("current", 0)).name if world else ""
    before = {home: "failed", **fix["verdict"].get("before", {})}
    for name, after in fix["verdict"]["worlds"].items():
        yield {"name": name, "before": before.get(name, ""), "after": after}
