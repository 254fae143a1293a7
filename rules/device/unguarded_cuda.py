"""A function of `torch.cuda` that needs a GPU is called where there may be none."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    Sources,
    change,
    expression,
    imported_name,
    replace_statement,
)

AVAILABLE = "torch.cuda.is_available"


def diagnose(failure: Failure) -> Finding | None:
    """Report the call, in a run without a GPU."""
    if failure.kind != "no-device" or failure.at is None:
        return None
    return Finding(0, f"{failure.at.path}:{failure.at.line} needs a GPU, and there is none.", strength=1, device="cpu")


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Ask for a GPU first: around a statement, or in the expression."""
    place = diagnosis.failure.at
    file = source.file(place) if place is not None else None
    call = file.call_at(place) if file is not None and place is not None else None
    if file is None or call is None or not file.qualified_name(call.func).startswith("torch.cuda."):
        return
    asked = f"{imported_name(file, AVAILABLE)}()"
    statement = file.statement_of(call)
    alone = isinstance(file.parent(call), cst.Expr) and isinstance(statement, cst.SimpleStatementLine)
    if asked == "()":
        return
    if alone and statement is not None and len(statement.body) == 1:
        module = replace_statement(file, statement, [f"if {asked}:\n    {file.code(call)}"])
    else:
        module = file.replaced({call: expression(_chosen(file, call, asked))})
    made = change(file, module, f"Call `{file.code(call.func)}` where there is a GPU")
    if made:
        yield made


def _chosen(file: File, call: cst.Call, asked: str) -> str:
    """The call where there is a GPU; what stands for it without one: False for a question, else the host's name."""
    text, name = file.code(call), file.qualified_name(call.func).rpartition(".")[2]
    if name.startswith(("is_", "can_")):
        whole = f"{asked} and {text}"
    elif name in ("current_device", "get_device_name"):
        whole = f'{text} if {asked} else "cpu"'
    else:
        whole = f"{text} if {asked} else None"
    bare = isinstance(
        file.parent(call), cst.Assign | cst.AnnAssign | cst.Return | cst.Arg | cst.FormattedStringExpression
    )
    return whole if bare else f"({whole})"
