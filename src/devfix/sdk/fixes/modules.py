"""Find the modules that hold a tensor, and where they are constructed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import libcst as cst

from devfix.model import Diagnosis, Failure, ModuleOwner, Operand, ScopeVariable
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.call_result import occurrences
from devfix.sdk.fixes.device_expressions import device_expressions
from devfix.sdk.trace.operands import scope_in
from devfix.sdk.trace.sites import FixSite, scope_at
from devfix.source import Sources, last_name
from devfix.source.edits.expressions import expression
from devfix.source.edits.statements import insert_before
from devfix.source.queries.loops import outside_loops
from devfix.source.queries.reading import is_in_constructor


def variable_in_frame(failure: Failure, frame: int, expression: str) -> ScopeVariable | None:
    """Return the variable that an expression is in a frame, by the frame's number; None if unknown.

    >>> variable_in_frame(failure, 0, "model").type
    'Model'
    """
    return next((each for each in scope_in(failure, frame) if each.expression == expression), None)


def root_modules(failure: Failure, operand: Operand) -> list[tuple[ModuleOwner, ScopeVariable]]:
    """Return the module that registers an operand, as each frame sees it, outermost frame first.

    An operand that was computed from one parameter alone, such as `torch.pow(self.centers, 2).sum(1)`, counts as that.

    >>> root_modules(failure, failure.operands[0])
    []
    """
    found = []
    for owner in sorted(operand.holders or _source_holders(failure, operand), key=lambda each: each.frame):
        binding = variable_in_frame(failure, owner.frame, owner.root)
        if binding is not None and owner.kind in ("parameter", "buffer"):
            found.append((owner, binding))
    return found


def _source_holders(failure: Failure, operand: Operand) -> Iterator[ModuleOwner]:
    """Yield the modules that register the only parameter from which an operand was computed, one for each frame."""
    for frame in dict.fromkeys(each.frame for each in operand.sources):
        named = [variable_in_frame(failure, frame, each.expression) for each in operand.sources if each.frame == frame]
        only = named[0] if len(named) == 1 else None
        if only is None or not only.type.endswith("Parameter") or only.device != operand.device:
            continue
        parts = [only.expression[: dot.start()] for dot in re.finditer(r"[.\[]", only.expression)]
        holders = [variable_in_frame(failure, frame, each) for each in parts]
        modules = [each for each in holders if each is not None and each.kind == "module"]
        if modules:
            holder, name = modules[-1], only.expression.rpartition(".")[2]
            yield ModuleOwner(holder.expression, frame, holder.type, name, "parameter", modules[0].expression)


def largest_misplaced_module(failure: Failure, operand: Operand, frame: int | None = None) -> ScopeVariable | None:
    """Return the largest module that holds an operand and is completely on the operand's device, in a frame or in any.

    For example `model.head` of a `model` whose other parts were moved, or `model` itself if nothing of it was.

    >>> largest_misplaced_module(failure, failure.operands[0]) is None
    True
    """
    for owner, _ in root_modules(failure, operand):
        if frame is not None and owner.frame != frame:
            continue
        for part in re.finditer(r"[.\[]|$", owner.expression[len(owner.root) :]):
            binding = variable_in_frame(failure, owner.frame, owner.expression[: len(owner.root) + part.start()])
            if binding is not None and binding.kind == "module" and binding.device == operand.device:
                return binding
    return None


def construction_sites(failure: Failure, binding: ScopeVariable, source: Sources) -> Iterator[FixSite]:
    """Yield the calls that constructed a module, innermost first, except `super().__init__` calls.

    >>> [site.place.line for site in construction_sites(failure, variable_in_frame(failure, 0, "model"), source)]
    [15]
    """
    made = binding.history[0] if binding.history else None
    for place in made.places if made is not None and made.kind == "made" else ():
        file = source.file(place)
        call = file.call_at(place) if file is not None else None
        if call is not None and last_name(call.func) != "__init__":
            yield FixSite("construction", place, scope_at(failure, place))


def is_never_moved(failure: Failure, module: ScopeVariable, moves: Iterable[cst.Call]) -> bool:
    """Return whether neither a module was moved nor one that holds it, as far as running functions name them.

    A module without parameters may be moved by a method of its own, which its history does not have, so that `moves`,
    the calls that move something, count if they are called on one of its names, or where it is constructed.

    >>> [is_never_moved(failure, each, []) for each in failure.frames[0].scope if each.kind == "module"][0]
    False
    """
    modules = [(frame, each) for frame in failure.frames for each in frame.scope if each.kind == "module"]
    named = [(frame, each.expression) for frame, each in modules if each.history == module.history != ()]
    names = {name.rpartition(".")[2] for _, name in named if name != "self"}
    is_held = any(
        frame is around and name.startswith((f"{other.expression}.", f"{other.expression}["))
        for frame, name in named
        for around, other in modules
    )
    if not names or is_held or module.transfers:
        return False
    receivers = [each.func.value for each in moves if isinstance(each.func, cst.Attribute)]
    moved = [each.func if isinstance(each, cst.Call) else each for each in receivers]
    return not any(last_name(each) in {*names, module.type} for each in moved)


def outside_constructors(sites: list[FixSite]) -> list[FixSite]:
    """Sort sites outside of constructors first; there the module that a constructor creates is moved as a whole.

    >>> [site.place.function for site in outside_constructors(fix_sites(diagnosis))][0]
    'Model.forward'
    """
    return sorted(sites, key=lambda site: is_in_constructor(site.place.function))


def move_module_before(diagnosis: Diagnosis, site: FixSite, source: Sources, text: str) -> Iterator[Change]:
    """Yield changes that insert `text.to(device)` before the statement at a site, outside of all loops.

    The variable of a comprehension is moved where it is called: `[head.to(device)(x) for head in self.heads]`.

    >>> [each.title for each in move_module_before(diagnosis, fix_sites(diagnosis)[-1], source, "self")][0]
    'Move the module `self` to `x.device`'
    """
    file = source.file(site.place)
    root = file.root_at(site.place) if file else None
    if file is None or root is None:
        return
    for anchor in device_expressions(diagnosis, site, file):
        statement = outside_loops(file, root, text, anchor)
        if statement is None or anchor.startswith((f"{text}.", f"next({text}.")):
            continue
        nodes = occurrences(file, root, text)[:1] if file.is_bound_within(root, re.split(r"\W", text)[0]) else []
        move = f"{text}.cpu()" if anchor == '"cpu"' else f"{text}.to({anchor})"
        inline: dict[cst.CSTNode, cst.CSTNode] = {node: expression(move) for node in nodes}
        module = file.replace(inline) if inline else insert_before(file, statement, [move])
        found = change(file, module, f"Move the module `{text}` to `{anchor}`")
        if found:
            yield found
