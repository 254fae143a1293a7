"""A report with everything in it, hostile strings included."""

from __future__ import annotations

from devfix.model import (
    Diagnosis,
    Edit,
    Event,
    Failure,
    Finding,
    Fix,
    Frame,
    ModuleOwner,
    NameRef,
    Operand,
    Outcome,
    Patch,
    Repair,
    Report,
    Run,
    SourceLocation,
    Verdict,
    World,
)

SIMULATED = World("simulated", 1)
BEFORE = b"import torch\n\nx = torch.ones(2, 16)\nmodel(x)\n"
AFTER = b"import torch\n\nx = torch.ones(2, 16)\nmodel(x.to(device))\n"
HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold red]{{ 7 * 7 }}[/] \u202egnp.exe\x9b31m"


def place(path: str, line: int, function: str = "main", owned: bool = True) -> SourceLocation:
    return SourceLocation(path=path, line=line, function=function, owned=owned)


def failure(message: str = "Expected all tensors to be on the same device") -> Failure:
    made = Event("factory", "aten::ones", "cpu", (place("train.py", 3),))
    weight = Event("parameter", "aten::empty", "cpu", (place("/site/torch/nn/linear.py", 9, "__init__", False),))
    moved = Event("move", "aten::to", "cuda:0", (place("train.py", 2),))
    return Failure(
        kind="device-mismatch",
        exception="RuntimeError",
        message=message,
        op="aten::addmm",
        frames=(
            Frame(place("train.py", 4)),
            Frame(place("/site/torch/nn/linear.py", 134, "forward", owned=False)),
        ),
        operands=(
            Operand(
                "bias",
                "cuda:0",
                "float32",
                (16,),
                (NameRef(1, "self.bias"),),
                (weight, moved),
                ModuleOwner("self", 1, "Linear", "bias", "parameter"),
            ),
            Operand("mat1", "cpu", "float32", (2, 16), (NameRef(1, "input"), NameRef(0, "x")), (made,)),
        ),
        traceback="Traceback (most recent call last):\n",
    )


def patch(title: str = "Move `x` to the model's device") -> Patch:
    return Patch(
        "placement/input-not-moved",
        title,
        "`x` was made on the CPU and never moved, while the model lies on cuda:0.",
        "safe",
        (Edit("train.py", 4, BEFORE, AFTER),),
    )


def report(text: str = "") -> Report:
    seen = failure(text or "Expected all tensors to be on the same device")
    worlds = {"cpu": "clean", "cuda x1": "clean", "cuda x2, current 1": "clean"}
    kept = Fix(patch(), Verdict("verified", worlds, 3, 4), "diff")
    tried = Fix(
        patch("Move the model back " + text), Verdict("progressed", {"cuda x1": "failed"}, 3, 2, "at " + text), "diff"
    )
    again = Fix(patch("Move `x` once more"), Verdict("regressed", {"cpu": "failed"}), "diff")
    return Report(
        outcome="unrepaired",
        world=SIMULATED,
        command="python train.py --steps 2 " + text,
        root="/home/ann/project",
        commit="a" * 40,
        repairs=(
            Repair(
                seen,
                (
                    Diagnosis(
                        "placement/input-not-moved", "An input was never moved", seen, Finding(1, "because " + text)
                    ),
                ),
                kept,
                (tried,),
            ),
            Repair(seen, (), None, (again,)),
        ),
        branch="devfix/x" + text,
        commits=("b" * 40,),
        diff="diff",
        seconds={"total": 2.34567},
        notes=("the tree is dirty " + text,),
        last_run=run(text),
    )


def run(text: str = "", outcome: Outcome = Outcome.FAILED) -> Run:
    return Run(SIMULATED, ("python", "train.py"), outcome, 1, 1.5, stdout=text, stderr="KeyError: 'ids'\n" + text)


def lines(path: str, line: int) -> str:
    rows = BEFORE.decode().splitlines() if path == "train.py" else []
    return rows[line - 1] if 0 < line <= len(rows) else ""
