"""A repository with two device bugs, and the reports that repairs of it leave."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from git_repositories import git, make_repository, write
from sample_report import SIMULATED, run

from devfix.model import (
    Edit,
    Event,
    Failure,
    Fix,
    Frame,
    NameRef,
    Operand,
    Outcome,
    Patch,
    Repair,
    Report,
    Safety,
    SourceLocation,
    Verdict,
)
from devfix.report.record import record
from devfix.report.render.machine_readable.json import dump
from devfix.report.source_lines import line_of
from devfix.report.types import ReportRecord

TRAIN = (
    b"import torch\n\nfrom model import net\n\n\ndef main():\n    x = torch.ones(2)\n    print(net(x))\n\n\nmain()\n"
)
MODEL = b"import torch\n\n\ndef net(x):\n    mask = torch.arange(2)\n    return x + mask\n"
FILES = {"train.py": TRAIN, "model.py": MODEL, "README.md": b"a model\n", ".github/workflows/ci.yml": b"on: push\n"}
FIRST = ("train.py", 8, "main", "x", b"net(x)", b'net(x.to("cuda"))')
SECOND = ("model.py", 6, "net", "mask", b"torch.arange(2)", b"torch.arange(2, device=x.device)")
Bug = tuple[str, int, str, str, bytes, bytes]


@dataclass
class History:
    """A repository of a person, whose commits the reports are about."""

    folder: Path

    @classmethod
    def start(cls, folder: Path, files: Mapping[str, bytes]) -> History:
        history = cls(make_repository(folder, files))
        for number in range(4):
            history.commit({"README.md": f"a model, take {number}\n"}, f"docs: say more, take {number}")
        return history

    @property
    def commit_id(self) -> str:
        return git(self.folder, "rev-parse", "HEAD")

    def commit(self, files: Mapping[str, bytes | str], message: str, push: str = "") -> str:
        """Commit new contents, and push them to an address."""
        write(self.folder, files)
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--allow-empty", f"--message={message}")
        if push:
            git(self.folder, "push", "--quiet", push, "HEAD:refs/heads/main")
        return self.commit_id

    def content(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    def report(self, *bugs: Bug, outcome: str = "repaired", command: str = "python train.py", **changes: Any) -> Report:
        """Return the report of a repair at the last commit that fixed these bugs one after the other."""
        now: dict[str, bytes] = {}
        repairs = []
        for path, line, function, name, old, new in bugs:
            before = now.get(path) or self.content(path)
            assert old in before
            now[path] = before.replace(old, new)
            repairs.append(_repair(path, line, function, name, Edit(path, line, before, now[path])))
        last = run(outcome=Outcome.CLEAN if outcome in ("clean", "repaired") else Outcome.FAILED)
        given = Report(outcome, SIMULATED, command, str(self.folder), self.commit_id, tuple(repairs), last_run=last)
        return replace(given, **changes)

    def record(self, *bugs: Bug, **changes: Any) -> ReportRecord:
        return record(self.report(*bugs, **changes), lambda path, line: line_of(self.content(path), line))

    def data(self, *bugs: Bug, **changes: Any) -> dict[str, Any]:
        """Return the JSON of a report, to be changed."""
        written: dict[str, Any] = json.loads(dump(self.record(*bugs, **changes)))
        return written

    def artifact(self, target: Path, *bugs: Bug, **changes: Any) -> Path:
        """Write the report of a repair to a file."""
        return written(target, self.data(*bugs, **changes))


def written(target: Path, data: dict[str, Any]) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(data))
    return target


def steps(text: str) -> Sequence[Mapping[str, Any]]:
    """Return the steps that `devfix publish --format json` printed."""
    data = json.loads(text)
    assert data["schema"] == "devfix-publish/1"
    return data["steps"]  # type: ignore[no-any-return]


def _repair(path: str, line: int, function: str, name: str, edit: Edit) -> Repair:
    place = SourceLocation(path, line, function, owned=True)
    made = Event("factory", "aten::ones", "cpu", (replace(place, line=line - 1),))
    operands = (
        Operand("self", "cuda:0", "float32", (2,), (NameRef(0, "weight"),)),
        Operand("other", "cpu", "float32", (2,), (NameRef(0, name),), (made,)),
    )
    message = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    failure = Failure("device-mismatch", "RuntimeError", message, "aten::add", (Frame(place),), operands)
    reason = f"`{name}` is made on the CPU and meets a tensor on cuda:0."
    patch = Patch("placement/input-not-moved", f"Move `{name}` to the model's device", reason, Safety.SAFE, (edit,))
    verdict = Verdict("verified", {"cpu": "clean", "cuda x1": "clean", "cuda x2": "clean"}, 1, 2)
    return Repair(failure, (), Fix(patch, verdict, ""))
