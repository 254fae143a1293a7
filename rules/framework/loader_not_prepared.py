"""A loader was not passed to `accelerator.prepare`, so its batches stay on the host."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    File,
    OperandRule,
    Safety,
    ScopeVariable,
    expression,
    insert_after,
    is_bound,
    is_of,
    loop_event,
    match,
    passed_in,
    rewrite,
    with_safety,
)

ACCELERATOR = "accelerate.Accelerator"
LOADER = "torch.DataLoader"
PREPARED = ("accelerate.DataLoaderShard", "accelerate.DataLoaderDispatcher", "accelerate.DataLoaderStateMixin")

COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


class LoaderNotPrepared(OperandRule):
    """Passes the loader to `prepare` with the model, or after it is created; else moves the batch."""

    reports_intentional, needs_object = True, (ACCELERATOR,)
    message = (
        "{name} comes from a loader that `prepare` was not given, so it stays on the host, while it meets a tensor on"
        " {peer}."
    )

    def matches(self, ctx: Context) -> bool:
        """Require a tensor on the host that a loop took from a plain DataLoader."""
        frame = _loop_frame(ctx) if ctx.operand.device == "cpu" else None
        return frame is not None and any(map(_is_plain, ctx.failure.frames[frame].scope))

    def propose(self, ctx: Context) -> Changes:
        """Go from the loop outward, to the callers that passed the loader on."""
        for frame, loader in _loops(ctx):
            yield from _prepare(ctx, frame, loader)
        names = [f"{each.expression}.device`" for each in ctx.objects(ACCELERATOR)]
        for site in ctx.uses():
            # The rest of the batch may need the same move.
            found = (each for each in site.move_argument() if any(name in each.title for name in names))
            yield from with_safety(found, Safety.UNSURE)


def _is_plain(binding: ScopeVariable) -> bool:
    return is_of(binding, LOADER) and not is_of(binding, *PREPARED)


def _loop_frame(ctx: Context) -> int | None:
    """Return the frame of the loop that yielded the operand."""
    number = loop_event(ctx.failure, ctx.operand)
    places = ctx.operand.history[number].places if number is not None else ()
    frames = (ctx.frame_of(place) for place in places if place.loop)
    return next((frame for frame in frames if frame is not None), None)


def _loops(ctx: Context) -> Iterator[tuple[int, str]]:
    """Yield the frame of the loop with the loader's name there, and then the callers that passed it on."""
    number = _loop_frame(ctx)
    site = ctx.site_of(number)
    if site is None or number is None:
        return
    plain = [each.expression for each in site.scope if _is_plain(each)]
    loops = [each for each in site.file.ancestors(site.node) if isinstance(each, cst.For)]
    name = next((text for loop in loops for text in plain if site.file.find(loop.iter, text)), "")
    while name:
        yield number, name
        passed = passed_in(ctx.failure, number, name, ctx.sources)
        if passed is None:
            return
        number, caller = passed[0], ctx.site_of(passed[0])
        name = caller.file.code(passed[1]) if caller is not None else ""


def _prepare(ctx: Context, frame: int, loader: str) -> Changes:
    """Yield changes that add the loader to a later `prepare` statement, or prepare it by a separate statement."""
    site = ctx.site_of(frame)
    if site is None:
        return
    file, node = site.file, site.node
    scope = file.class_of(node) if loader.startswith("self.") else site.function
    # A class may prepare in one method what it loops over in another; a function runs from top to bottom.
    is_class = isinstance(scope, cst.ClassDef)
    assigned = _givers(file, scope or file.module, loader)
    given = [each for each in assigned if is_class or file.line_of(each) < file.line_of(node)]
    if not given:
        return
    last, title = given[-1], f"Hand `{loader}` to `prepare`"
    seen = [*site.scope, *ctx.scope_at(file.place_of(last))]
    names = list(dict.fromkeys(each.expression for each in seen if is_of(each, ACCELERATOR)))
    for statement in _prepares(file, scope or file.module, names):
        is_above = is_class or file.line_of(statement) < file.line_of(node)
        is_same = file.function_of(statement) is file.function_of(last)
        if is_above and is_same and file.line_of(last) < file.line_of(statement):
            yield from rewrite(file, _with_loader(file, statement, loader), title)
    around = file.statement_of(last)
    if around is None or file.loops_around(last):
        return
    for name in names:
        if is_bound(file, last, name):
            yield from rewrite(file, insert_after(file, around, [f"{loader} = {name}.prepare({loader})"]), title)


def _givers(file: File, scope: cst.CSTNode, name: str) -> Iterator[cst.Assign]:
    """Yield the assignments of a name, alone or with others: `train, valid = loaders()`."""
    for node in file.within(scope, cst.Assign):
        here = not isinstance(scope, cst.Module) or file.function_of(node) is None
        if here and any(name in _parts(file, each.target) for each in node.targets):
            yield node


def _parts(file: File, target: cst.BaseExpression) -> list[str]:
    if isinstance(target, cst.Tuple | cst.List):
        return [file.code(each.value) for each in target.elements]
    return [file.code(target)]


def _prepares(file: File, scope: cst.CSTNode, names: list[str]) -> list[cst.Assign]:
    """Return the assignments of results of an accelerator's `prepare`, last first."""
    prepares = [f"{name}.prepare($$$)" for name in names]
    single = (each for each in file.within(scope, cst.Assign) if len(each.targets) == 1)
    return [each for each in single if match(each.value, *prepares)][::-1]


def _with_loader(file: File, statement: cst.Assign, loader: str) -> cst.Module | None:
    """Return the module with a loader added to a `prepare` statement; None if names and arguments do not correspond."""
    call, target = statement.value, statement.targets[0].target
    texts = _parts(file, target)
    if not isinstance(call, cst.Call) or len(texts) != len(call.args) or loader in texts:
        return None
    if any(each.star or each.keyword for each in call.args):
        return None
    last, between = call.args[-1], call.args[0].comma if len(call.args) > 1 else COMMA
    new = last.with_changes(value=expression(loader))
    before = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
    prepared = call.with_changes(args=[*call.args[:-1], before, new])
    if not isinstance(target, cst.Tuple):
        return file.replace({call: prepared, target: expression(f"{texts[0]}, {loader}")})
    elements = target.elements
    before_last = elements[-1].with_changes(comma=elements[0].comma if len(elements) > 1 else COMMA)
    added = elements[-1].with_changes(value=expression(loader))
    return file.replace({call: prepared, target: target.with_changes(elements=[*elements[:-1], before_last, added])})
