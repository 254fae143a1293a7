"""A tensor of float64 is put on MPS, which has none."""

from collections.abc import Iterator, Mapping

import libcst as cst

from devfix.sdk import (
    CallRule,
    CallSite,
    Changes,
    Context,
    File,
    Safety,
    argument,
    assigned_values,
    call_method,
    is_move,
    last_name,
    match,
    method_call_on,
)

NAMES = ("float64", "double")  # of the dtype, and of methods that cast to it
CASTS = ("float", "half", "bfloat16", "int", "long", "short", "bool")
WITH_DTYPE = ("as_tensor", "tensor", "asarray", "to", "new_tensor")
ARRAYS = ("from_numpy", "as_tensor", "tensor", "asarray", "frombuffer")


class Float64OnMps(CallRule):
    """Casts to float32 before the move, or asks for float32 where the tensor is made on MPS."""

    failure_kind, device = "dtype-on-device", "mps"

    def explain(self, ctx: Context) -> str:
        """Report float64; the other types that MPS lacks have no counterpart."""
        if "float64" not in ctx.failure.message:
            return ""
        operand = ctx.operand if ctx.failure.operands else None
        if operand is None or operand.dtype != "torch.float64":
            return "The tensor is of float64, and MPS has no float64."
        return f"{ctx.name} is of float64 on {operand.device}, and MPS has no float64."

    def fix(self, ctx: Context, site: CallSite) -> Changes:
        """Change the call that failed: a cast that follows comes first, else float32 is asked for."""
        yield from _cast_first(site)
        yield from _ask_for_float32(site)
        yield from _cast_array(site)


def _cast_first(site: CallSite) -> Changes:
    """Yield the move after the cast that follows it: `x.to(device).float()` casts on a device that lacks float64."""
    cast = method_call_on(site.file, site.node)
    found = match(cast, "$X.$MOVE($$$TO).$CAST($$$TYPE)")
    if cast is not None and found is not None and is_move(site.node) and _casts(site.file, cast):
        moved = found.fill("$X.$CAST($$$TYPE).$MOVE($$$TO)")
        yield from site.replace({cast: moved}, "Cast before the move: MPS has no float64")


def _casts(file: File, call: cst.Call) -> bool:
    """Return whether a method casts to a type that MPS has."""
    if last_name(call.func) in CASTS:
        return not call.args
    given = argument(call, "dtype", 0) if last_name(call.func) == "to" else None
    return given is not None and len(call.args) == 1 and _is_other_dtype(file.code(given.value))


def _is_other_dtype(text: str) -> bool:
    return text.rpartition(".")[2] in ("float32", "float", "float16", "half", "bfloat16", *CASTS[3:])


def _ask_for_float32(site: CallSite) -> Changes:
    """Yield float32 in place of float64 in the call, or where the dtype that it names is assigned; else added to it."""
    named = {node: cst.Attribute(node.value, cst.Name("float32")) for node in _find_float64(site)}
    if named:
        title = f"Make `{site.name}` give float32: MPS has no float64"
        yield from site.replace(named, title, Safety.LIKELY)
    elif site.name == "double" and site.receiver is not None:
        yield from site.change_to(call_method(site.receiver, "float"), "Cast to float32: MPS has no float64")
    elif site.name in WITH_DTYPE and site.argument("dtype") is None and not _has_dtype(site):
        title = f"Let `{site.name}` cast to float32: MPS has no float64"
        yield from site.add_keyword("dtype", "torch.float32", title, Safety.LIKELY)


def _find_float64(site: CallSite) -> Iterator[cst.Attribute]:
    """Yield each `torch.float64` among the arguments, and what is assigned to a name that they pass as dtype."""
    for each in site.node.args:
        values = [each.value]
        if isinstance(each.value, cst.Name | cst.Attribute) and (each.keyword is None or each.keyword.value == "dtype"):
            scope = site.function or site.file.module
            values += assigned_values(site.file, site.file.code(each.value), scope)
        for value in values:
            if isinstance(value, cst.Attribute) and value.attr.value in NAMES:
                yield value


def _has_dtype(site: CallSite) -> bool:
    """Return whether a positional argument is a dtype already: `x.to(device, torch.float64)`."""
    return any(site.file.code(each.value).startswith("torch.") for each in site.node.args[1:])


def _cast_array(site: CallSite) -> Changes:
    """Yield the cast right after a NumPy array becomes a tensor that the call moves."""
    receiver = site.receiver
    if not is_move(site.node) or not isinstance(receiver, cst.Call) or last_name(receiver.func) not in ARRAYS:
        return
    edits: Mapping[cst.CSTNode, cst.CSTNode] = {receiver: call_method(receiver, "float")}
    yield from site.replace(edits, f"Cast the result of `{last_name(receiver.func)}` to float32", Safety.LIKELY)
