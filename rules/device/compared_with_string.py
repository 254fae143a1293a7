"""A device is compared with a string that it never equals, so that a branch is never taken, or always."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Changes,
    CodeWarning,
    Context,
    File,
    Finding,
    SourceRule,
    code,
    expression,
    imported_name,
    last_name,
    match,
    rewrite,
    scope_of,
    warning,
)

PLAIN = re.compile(r"[\"'](cuda|cpu|mps|xpu|meta)[\"']")
WITH_AN_INDEX = re.compile(r"[\"'](cuda|mps|xpu)[\"']")  # where a tensor's device has one that the name lacks
INDEXED = re.compile(r"[\"'](cuda|mps|xpu):\d+[\"']")
NAMED = re.compile(r"(^|[._])(device|dev)$")
ALONE = (cst.If, cst.While, cst.Assert, cst.Return, cst.Assign, cst.Arg)  # what has a test without parentheses
ANSWERS = {cst.Equal: "never", cst.NotEqual: "always"}
MEMBERS = {cst.In: "never", cst.NotIn: "always"}


class ComparedWithString(SourceRule):
    """Compares the type of the device, or a device with a device."""

    # Only attributes: what a local name holds is unknown without a run.
    warning_texts = tuple(f".device {operator} {quote}" for operator in ("==", "!=") for quote in ("'", '"'))
    message = "{name} was left on {device}, and meets a tensor on {peer}."

    def diagnose(self, ctx: Context) -> Finding | None:
        """Report a check of the program's own that refuses every device."""
        place = ctx.failure.at if ctx.failure.kind == "device-check" else None
        function = ctx.definition_at(place)
        for node in function.file.within(function.node, cst.Comparison) if function is not None else ():
            if function is not None and _better(ctx, function.file, node) is not None:
                text = function.file.code(node)
                return ctx.report(f"`{text}` compares a device with what it never equals: every input is refused.")
        return super().diagnose(ctx)

    def propose(self, ctx: Context) -> Changes:
        """Start with the function that refuses its input."""
        place = ctx.failure.at if ctx.failure.kind == "device-check" else None
        file = ctx.sources.file(place) if place is not None else None
        yield from self.find(ctx, file) if file is not None else super().propose(ctx)

    def find(self, ctx: Context, file: File) -> Changes:
        """Yield fixes of every comparison in the file that a device makes constant."""
        for node in file.within(file.module, cst.Comparison):
            better = _better(ctx, file, node)
            if better is not None:
                reason = f"`{file.code(node)}` compares a device with what it never equals."
                yield from rewrite(file, {node: better}, f"Compare by `{code(better)}`", reason=reason)

    def warnings(self, file: File) -> Iterator[CodeWarning]:
        """Warn about comparisons of `….device` with a string, which can only be true if the attribute is a string."""
        for node in file.within(file.module, cst.Comparison):
            if len(node.comparisons) != 1 or last_name(node.left) != "device":
                continue
            literal, answer = file.code(node.comparisons[0].comparator), _answer(node)
            if not answer or not isinstance(node.left, cst.Attribute):
                continue
            reason = f"`{file.code(node)}` is {answer} true, since a device equals no string"
            if PLAIN.fullmatch(literal):
                better = code(node.with_changes(left=expression(f"{file.code(node.left)}.type")))
                yield warning(file, node.left, f"{reason}; `{better}` may be meant.")
            elif INDEXED.fullmatch(literal):
                yield warning(file, node.left, f"{reason}.")


def _answer(node: cst.Comparison) -> str:
    return ANSWERS.get(type(node.comparisons[0].operator), "")


def _better(ctx: Context, file: File, node: cst.Comparison) -> cst.BaseExpression | None:
    """Return the intended comparison; None if the existing one is valid."""
    if len(node.comparisons) != 1:
        return _better_chain(ctx, file, node)
    target, device = node.comparisons[0], node.left
    if type(target.operator) in MEMBERS:
        return _better_member(ctx, file, node)
    if not _answer(node):
        return None
    inner = _unwrap(target.comparator, "device")
    # `str(x.device) == "cuda:0"` and `x.device == torch.device("cpu")` are true where they should be.
    literal = file.code(inner or target.comparator)
    called = _unwrap(device, "str")
    if (inner is not None or called is not None) and not WITH_AN_INDEX.fullmatch(literal):
        return None
    target, device = target.with_changes(comparator=inner or target.comparator), called or device
    text = file.code(device)
    seen = {each.kind: each.device for each in scope_of(ctx.failure, file, node) if each.expression == text}
    if "string" in seen:
        if not PLAIN.fullmatch(literal) or ":" not in seen["string"]:  # a string "cuda:0" is not equal to "cuda"
            return None
        quote = literal[-1]  # as in the file
        return node.with_changes(left=expression(f"{text}.partition({quote}:{quote})[0]"), comparisons=[target])
    made = imported_name(file, "torch.device")
    if "device" not in seen and not NAMED.search(text):
        return None
    if PLAIN.fullmatch(literal):
        return node.with_changes(left=expression(f"{text}.type"), comparisons=[target])
    if INDEXED.fullmatch(literal) and made:
        return node.with_changes(comparisons=[target.with_changes(comparator=expression(f"{made}({literal})"))])
    return None


def _better_member(ctx: Context, file: File, node: cst.Comparison) -> cst.BaseExpression | None:
    """Return `x.device.type in ("cuda", "mps")` for `x.device in ("cuda", "mps")`."""
    names, text = node.comparisons[0].comparator, file.code(node.left)
    elements = names.elements if isinstance(names, cst.Tuple | cst.List | cst.Set) else ()
    kinds = {each.kind for each in scope_of(ctx.failure, file, node) if each.expression == text}
    is_device = "device" in kinds or (not kinds and NAMED.search(text) is not None)
    if not elements or not is_device or not all(PLAIN.fullmatch(file.code(each.value)) for each in elements):
        return None
    return node.with_changes(left=expression(f"{text}.type"))


def _better_chain(ctx: Context, file: File, node: cst.Comparison) -> cst.BaseExpression | None:
    """Return `a.device == b.device and b.device.type == "cuda"` for `a.device == b.device == "cuda"`."""
    *others, last = node.comparisons
    if not others or not all(isinstance(each.operator, cst.Equal) for each in node.comparisons):
        return None
    single = cst.Comparison(others[-1].comparator, [last])
    if not all(NAMED.search(file.code(each)) for each in (node.left, *(each.comparator for each in others))):
        return None
    better = _better(ctx, file, single)
    if better is None:
        return None
    is_wrapped = not node.lpar and not isinstance(file.parent(node), ALONE)
    lpar, rpar = ([cst.LeftParen()], [cst.RightParen()]) if is_wrapped else (node.lpar, node.rpar)
    rest = node.with_changes(comparisons=others, lpar=[], rpar=[])
    return cst.BooleanOperation(rest, cst.And(), better, lpar=lpar, rpar=rpar)


def _unwrap(node: cst.BaseExpression, name: str) -> cst.BaseExpression | None:
    """Return the only argument of a call of a name; None for everything else."""
    found = match(node, f"{name}($X)", f"$_.{name}($X)")
    return found["X"] if found is not None else None
