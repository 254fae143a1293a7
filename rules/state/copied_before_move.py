"""A module's weights are copied before the module is moved, and the copies stay where it was."""

import re
from dataclasses import dataclass

import libcst as cst

from devfix.sdk import (
    CallSite,
    Changes,
    Context,
    EvidenceRule,
    Safety,
    SourceLocation,
    assignments,
    reorder,
    rewrite,
)

Block = cst.IndentedBlock | cst.Module


@dataclass(frozen=True)
class Copied:
    """A block with the statement that copies at number `copied`, and the one that moves the module at `moved`."""

    site: CallSite
    block: Block
    copied: int
    moved: int


class CopiedBeforeMove(EvidenceRule[Copied]):
    """Puts the statement that moves the module before the one that copies its weights."""

    def search(self, ctx: Context) -> Copied | None:
        """Return where a block copies what the operand was computed from, and moves the module below that."""
        sites = (ctx.call_at(place, "to", "cuda") for place in _moves(ctx))
        found = (copied for site in sites if site is not None and (copied := _copied_above(ctx, site)))
        return None if ctx.is_held else next(found, None)

    def describe(self, ctx: Context, found: Copied) -> str:
        """Report a copy of what a module holds, made by a statement above the one that moves the module."""
        moved = found.site.file.code(found.site.statement or found.site.node).strip()
        return (
            f"{ctx.name} was copied from a module on {ctx.operand.device} before `{moved}` moved that in"
            f" {found.site.place.shown}."
        )

    def fix(self, ctx: Context, found: Copied) -> Changes:
        """Put the statement that moves before the one that copies; where it needs what is between, copy later."""
        changed = reorder(found.site.file, found.block, found.copied, found.moved)
        if changed is not None:
            earlier, later = "Move the model before its weights are copied", "Copy the weights after the model is moved"
            title = earlier if changed.is_earlier else later
            yield from rewrite(found.site.file, changed.module, title, Safety.LIKELY)


def _copied_above(ctx: Context, site: CallSite) -> Copied | None:
    """Return the statement that copies a module's weights, between its last assignment and the call that moves it."""
    line, name = _moving(site)
    block = site.file.parent(line) if line is not None and site.line is not None else None
    if not isinstance(name, cst.Name) or not isinstance(block, cst.IndentedBlock | cst.Module):
        return None
    body = list(block.body)
    moved = next(number for number, each in enumerate(body) if each is line)
    given = [number for number in range(moved) if assignments(site.file, name.value, body[number])]
    first = given[-1] + 1 if given else 0
    copied = next((number for number in range(first, moved) if _keeps(ctx, site, body[number])), None)
    if copied is None or not site.file.find(body[copied], name.value):
        return None
    return Copied(site, block, copied, moved)


def _moving(site: CallSite) -> tuple[cst.CSTNode | None, cst.BaseExpression | None]:
    """Return the statement that moves a module, and the module; the loop and the list of one that moves each of it."""
    line, name = site.statement, site.receiver
    block = site.file.parent(line) if line is not None else None
    loop = site.file.parent(block) if block is not None else None
    is_each = isinstance(loop, cst.For) and name is not None and site.file.code(loop.target) == site.file.code(name)
    if isinstance(loop, cst.For) and is_each and list(loop.body.body) == [line] and loop.orelse is None:
        return loop, loop.iter
    return line, name


def _keeps(ctx: Context, site: CallSite, line: cst.CSTNode) -> bool:
    """Return whether a statement computed the operand, or assigned what holds it, such as an average of a model."""
    places = [place for event in ctx.operand.history[1:] for place in event.places if place.owned]
    here = [place for place in places if (place.path, place.function) == (site.place.path, site.place.function)]
    roots = [site.file.root_at(place) for place in here]
    if any(line is each for root in roots if root is not None for each in (root, *site.file.ancestors(root))):
        return True
    frames = ctx.failure.frames
    held = [each.expression for each in ctx.operand.names if frames[each.frame].place.function == site.place.function]
    names = [name[: dot.start()] for name in held for dot in re.finditer(r"[.\[]|$", name)]
    return any(assignments(site.file, name, line) for name in names)


def _moves(ctx: Context) -> list[SourceLocation]:
    """Return where owned code moved modules that the running functions know to the target device, without repeats."""
    scopes = (each for frame in ctx.failure.owned_frames for each in frame.scope if each.kind == "module")
    moves = (event for each in scopes for event in each.transfers if event.device == ctx.target_device)
    return list(dict.fromkeys(each.owned_place for each in moves if each.owned_place))
