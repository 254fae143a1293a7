"""Find the places at which a fix edits: sites that fulfil its conditions, and what its metavariables stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import libcst as cst

from devfix.model import is_in_place
from devfix.registry.declarations.schema import Fix, Place, Texts, texts
from devfix.sdk import Context, File, FixSite, Site, expression, is_of, last_name
from devfix.sdk.fixes.call_result import is_keyed
from devfix.sdk.trace.sites import SiteKind
from devfix.source.templates import Bound, Template, variables

HISTORY: dict[Place, SiteKind] = {
    Place.RETURNED: "returned",
    Place.DERIVED: "derived",
    Place.ARGUMENT: "argument",
    Place.USE: "use",
}


@dataclass(frozen=True)
class EditTarget:
    """A place at which a fix edits: the site, the expression that it replaces, and what metavariables stand for."""

    site: Site
    node: cst.CSTNode
    bound: dict[str, Bound]


def find_targets(fix: Fix, at: tuple[Place, ...], ctx: Context) -> Iterator[EditTarget]:
    """Yield the places of a fix, in the order of the data flow."""
    template = Template(fix.match) if fix.match else None
    for site in _sites(fix, at, ctx):
        if not _fits(fix, site):
            continue
        for tensor in _tensors(fix, site):
            node = tensor if tensor is not None and template is None else site.node
            bound: dict[str, Bound] = {} if tensor is None else {"TENSOR": tensor}
            found = template.match(node, bound) if template is not None else bound
            if found is not None:
                yield EditTarget(site, node, found)


def call_of(site: Site) -> cst.Call | None:
    """Return the call at a site."""
    return site.node if isinstance(site.node, cst.Call) else site.call()


def names_of(fix: Fix, site: Site) -> list[str]:
    """Return the names of the tensor at a site that have the attribute that a fix is about, or are assigned."""
    found = [each for each in site.expressions if not fix.attribute or _is_attribute(each, fix.attribute)]
    return _assigned_names(site, found) if fix.assigned else found


def _sites(fix: Fix, at: tuple[Place, ...], ctx: Context) -> Iterator[Site]:
    if Place.CREATION in at and ctx.failure.operands and (made := ctx.site_at(ctx.created_at)) is not None:
        yield made
    if ctx.failure.operands and (kinds := [HISTORY[each] for each in at if each in HISTORY]):
        yield from ctx.sites(*kinds)
    if Place.FAILURE in at and (failed := ctx.failing_call()) is not None:
        yield replace(failed, fix_site=replace(failed.fix_site, kind="use"))  # no site in the tensor's history
    if Place.FILE in at:
        for file in ctx.files():
            yield from _sites_in(fix, file, ctx)


def _sites_in(fix: Fix, file: File, ctx: Context) -> Iterator[Site]:
    wanted = type(Template(fix.match).expression) if fix.match else cst.Call
    for node in file.within(file.module):
        if isinstance(node, wanted):
            yield Site(ctx.diagnosis, ctx.sources, file, node, FixSite("use", file.place_of(node), ()))


def _fits(fix: Fix, site: Site) -> bool:
    call = call_of(site) if fix.callee or fix.callee_class else None
    if fix.callee and (call is None or not _is_named(site.file, call.func, fix.callee)):
        return False
    if fix.callee_class and (call is None or not _is_of_class(site, call, fix.callee_class)):
        return False
    if fix.decorator and not any(_is_named(site.file, each, fix.decorator) for each in _decorators(site)):
        return False
    return not (fix.attribute or fix.assigned) or bool(names_of(fix, site))


def _is_named(file: File, node: cst.BaseExpression, patterns: Texts) -> bool:
    """Return whether a callee has one of some names: full names if a pattern has a dot, else its last name."""
    whole, last = file.qualified_name(node), last_name(node)
    return any(fnmatchcase(whole if "." in each else last, each) for each in texts(patterns))


def _is_of_class(site: Site, call: cst.Call, classes: Texts) -> bool:
    """Return whether what is called, or whose method is called, is an object of one of some classes."""
    called = [call.func, *([call.func.value] if isinstance(call.func, cst.Attribute) else [])]
    names = [site.file.code(each) for each in called]
    return any(each.expression in names and is_of(each, *texts(classes)) for each in site.scope)


def _decorators(site: Site) -> Iterator[cst.BaseExpression]:
    for each in site.function.decorators if site.function is not None else ():
        yield each.decorator.func if isinstance(each.decorator, cst.Call) else each.decorator


def _tensors(fix: Fix, site: Site) -> Iterator[cst.BaseExpression | None]:
    """Yield the expressions of the tensor at a site; None once if it has none there, or the fix asks for none."""
    if site.kind not in ("argument", "use"):
        yield site.node if isinstance(site.node, cst.BaseExpression) else None
    elif site.frame is None:
        yield None
    elif fix.replace and not fix.match:
        yield from (node for name in names_of(fix, site) for node in site.occurrences(name)[:1])
    elif any("TENSOR" in variables(each) for each in _texts_of(fix)):
        yield from (expression(name) for name in names_of(fix, site))
    else:
        yield None


def _texts_of(fix: Fix) -> tuple[str, ...]:
    written = (fix.match, fix.replace, *texts(fix.insert_before), *texts(fix.insert_after))
    return (*written, *fix.set_argument.values(), fix.title)


def _is_attribute(expression: str, patterns: Texts) -> bool:
    """Return whether an expression is an attribute of some names; a pattern with a dot is that of all of it."""
    owner, _, name = expression.rpartition(".")
    return bool(owner) and any(fnmatchcase(expression if "." in each else name, each) for each in texts(patterns))


def _assigned_names(site: Site, names: Iterable[str]) -> list[str]:
    """Return the names that the function around a site assigns or updates in place.

    An element by a variable key is named as it is written there.

    What a trace calls `self.sums["loss"]` is `self.sums[name]` in the source.
    """
    nodes = list(site.file.within(site.function)) if site.function is not None else []
    targets: list[cst.BaseExpression] = [
        each.target for each in nodes if isinstance(each, cst.AssignTarget | cst.AugAssign)
    ]
    targets += [each.value for each in nodes if isinstance(each, cst.Attribute) and _is_updated(site.file, each)]
    written = {site.file.code(each): each for each in targets}
    found = []
    for name in names:
        keyed = [text for text, each in written.items() if is_keyed(site.file, each, name)]
        found += [name] if name in written else keyed if len(keyed) == 1 else []
    return list(dict.fromkeys(found))


def _is_updated(file: File, node: cst.CSTNode) -> bool:
    """Return whether a node is the method of a call that writes into its tensor: `x.add_` of `x.add_(y)`."""
    call = file.parent(node)
    return isinstance(call, cst.Call) and call.func is node and is_in_place(last_name(call.func))
