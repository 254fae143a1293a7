"""Failures, patches and runs for tests of the verifier."""

from devfix.model import (
    Edit,
    Event,
    Failure,
    Frame,
    Operand,
    Outcome,
    Patch,
    Run,
    Safety,
    SourceLocation,
    Transfer,
    World,
)

HOME, CPU, TWO = World("simulated", 1), World("cpu"), World("simulated", 2)
SOURCE = b"a = make()\nb = other()\nuse(a)\nuse(b)\n"
FILES = {"m.py": SOURCE}


def failure(line: int, created: int, operations: int) -> Failure:
    place = SourceLocation("m.py", line, "f", owned=True)
    creation = Event("factory", "aten::zeros", "cpu", (SourceLocation("m.py", created, "f", owned=True),))
    operands = (Operand("self", "cuda:0"), Operand("other", "cpu", history=(creation,)))
    return Failure(
        "device-mismatch", "RuntimeError", "two devices", "aten::add", (Frame(place),), operands, operations=operations
    )


FIRST = failure(3, 1, 10)


def make_run(world: World, failed: Failure | None = None, stdout: str = "1\n", copies: int = 0, line: int = 1) -> Run:
    transfers = (Transfer(SourceLocation("m.py", line, "f", owned=True), "to-device", copies, 8),) if copies else ()
    outcome = Outcome.FAILED if failed else Outcome.CLEAN
    return Run(world, (), outcome, 0, 0.1, stdout=stdout, failure=failed, transfers=transfers)


def patch(after: bytes, rule: str = "p/r") -> Patch:
    return Patch(rule, after.decode(), "", Safety.SAFE, (Edit("m.py", 1, SOURCE, after),))
