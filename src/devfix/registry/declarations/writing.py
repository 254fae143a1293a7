"""Write the changes of a fix at its places, by the edits of the SDK."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import libcst as cst

from devfix.registry.declarations.checking import edits_of
from devfix.registry.declarations.places import EditTarget, call_of, find_targets, names_of
from devfix.registry.declarations.schema import Edit, Fix, Place, texts
from devfix.sdk import (
    Change,
    Context,
    File,
    Safety,
    Site,
    add_keyword,
    argument,
    code,
    expression,
    imported_name,
    insert_after,
    insert_before,
    remove_keyword,
    remove_move,
    rewrite,
    with_import,
)
from devfix.source.templates import Bound, Template, fill_text, variables

Written = TypeVar("Written", bound=cst.CSTNode)
LONGEST = 60  # characters of an expression in a title


def propose_changes(fix: Fix, at: tuple[Place, ...], ctx: Context) -> Iterator[Change]:
    """Yield the changes of a fix, best first."""
    for target in find_targets(fix, at, ctx):
        for edit in edits_of(fix):
            yield from _rate_changes(fix, target, _apply_edit(fix, edit, ctx, target))
        if not edits_of(fix):
            for bound in _bindings(fix, target):
                yield from _write(fix, target, bound)


def _rate_changes(fix: Fix, target: EditTarget, found: Iterable[Change]) -> Iterator[Change]:
    """Yield changes with what a fix says of their safety and reason."""
    reason = fill_text(fix.reason, _codes(target.bound))
    for each in found:
        yield replace(each, safety=fix.safety or each.safety, reason=reason or each.reason)


def _apply_edit(fix: Fix, edit: Edit, ctx: Context, target: EditTarget) -> Iterator[Change]:
    """Yield the changes of an edit of the SDK."""
    site = target.site
    if edit is Edit.COPY_TO_HOST:
        return ctx.copy_to_host()
    if edit is Edit.REMOVE_MOVE:
        call = call_of(site)
        new = remove_move(call) if call is not None else None
        title = _title(fix, target.bound, new, "Leave `$RESULT` where it is")
        return site.replace({call: new}, title) if call is not None and new is not None else iter(())
    if fix.attribute or fix.assigned:
        site = site.with_names(*names_of(fix, site))
    method = getattr(Site, edit.value.replace("-", "_"))
    found: Iterator[Change] = method(site)
    return found


def _bindings(fix: Fix, target: EditTarget) -> Iterator[dict[str, Bound]]:
    """Yield what metavariables stand for, once for each expression of the right device if the fix writes one."""
    said = (fix.replace, *texts(fix.insert_before), *texts(fix.insert_after), *fix.set_argument.values())
    if not any("DEVICE" in variables(each) for each in said) or "DEVICE" in target.bound:
        yield target.bound
        return
    tensor = target.bound.get("TENSOR")
    own = f"{code(tensor)}." if isinstance(tensor, cst.BaseExpression) else "."
    for device in target.site.device_expressions():
        if not device.startswith(own):
            yield {**target.bound, "DEVICE": expression(device)}


def _write(fix: Fix, target: EditTarget, bound: Mapping[str, Bound]) -> Iterator[Change]:
    """Yield the change that writes what a fix says in place of an expression, an argument, or beside a statement."""
    file, names = target.site.file, FileNames(target.site.file, texts(fix.imports))
    module, new, usual = None, None, ""
    if fix.replace:
        new = names.write_code(Template(fix.replace).fill(bound))
        module, usual = file.replace({target.node: new}), "Write `$RESULT`"
    elif fix.set_argument or fix.remove_argument:
        call = call_of(target.site)
        bound = {**bound, **(_present_argument(fix, call) if call is not None else {})}
        new = _with_arguments(fix, call, bound) if call is not None else None
        module = file.replace({call: new}) if call is not None and new is not None else None
        usual = f"Pass `{', '.join(fix.set_argument)}`" if fix.set_argument else f"Do not pass `{fix.remove_argument}`"
    elif target.site.statement is not None:
        given = texts(fix.insert_before) or texts(fix.insert_after)
        lines = [code(names.write_code(cst.parse_statement(fill_text(each, _codes(bound))))).rstrip() for each in given]
        insert = insert_before if fix.insert_before else insert_after
        place = _branches_beside(target.site, lines, bound) if fix.insert_before else None
        module, usual = insert(file, place or target.site.statement, lines), f"Insert `{lines[0]}`"
    if module is not None:
        for name in sorted(names.missing):
            module = with_import(module, name)
        title = _title(fix, bound, new, usual)
        yield from rewrite(file, module, title, fix.safety or Safety.SAFE, fill_text(fix.reason, _codes(bound)))


def _branches_beside(site: Site, lines: Sequence[str], bound: Mapping[str, Bound]) -> cst.If | None:
    """Return the `if` around a statement before which lines move the tensor for its other branches too, if they do."""
    codes = _codes(bound)
    text, device = codes.get("TENSOR", ""), codes.get("DEVICE", "")
    is_moved = bool(text and device) and list(lines) == [f"{text} = {text}.to({device})"]
    return site.before_branches(text, device) if is_moved else None


def _with_arguments(fix: Fix, call: cst.Call, bound: Mapping[str, Bound]) -> cst.Call | None:
    """Return the call with the arguments set or removed; None if it lacks one whose value is needed, or to remove."""
    if fix.remove_argument:
        return remove_keyword(call, fix.remove_argument) if argument(call, fix.remove_argument) else None
    for name, text in fix.set_argument.items():
        given = argument(call, name, fix.position)
        if "ARGUMENT" in variables(text) and "ARGUMENT" not in bound:
            return None
        value = Template(text).fill(bound)
        call = add_keyword(call, name, code(value)) if given is None else call.with_deep_changes(given, value=value)
    return call


def _present_argument(fix: Fix, call: cst.Call) -> dict[str, Bound]:
    """Return the present value of the argument that a fix sets, if it sets one and the call has it."""
    found = [argument(call, name, fix.position) for name in fix.set_argument]
    return {"ARGUMENT": found[0].value} if len(found) == 1 and found[0] is not None else {}


class FileNames(cst.CSTTransformer):
    """Writes names of modules as a file imports them, `to_gpu` for `acme.to_gpu`; `missing` are modules it lacks."""

    def __init__(self, file: File, modules: Sequence[str]) -> None:
        super().__init__()
        self._file, self._modules = file, modules
        self.missing: set[str] = set()

    def write_code(self, node: Written) -> Written:
        """Return an expression or a statement with the names of the file."""
        found = node.visit(self)
        assert isinstance(found, type(node) | cst.BaseExpression)
        return found

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        """Return the name in the file."""
        whole = code(original_node)
        module = next((each for each in self._modules if whole.startswith(f"{each}.")), "")
        short = imported_name(self._file, whole) if module else ""
        if module and not short:
            self.missing.add(module)
        return expression(short) if short else updated_node


def _title(fix: Fix, bound: Mapping[str, Bound], new: cst.CSTNode | None, usual: str) -> str:
    result = " ".join(code(new).split()) if new is not None else ""
    short = result if len(result) <= LONGEST else f"{result[:LONGEST]}…"
    return fill_text(fix.title or usual, {**_codes(bound), "RESULT": short})


def _codes(bound: Mapping[str, Bound]) -> dict[str, str]:
    """Return the code of what metavariables stand for."""
    nodes = {name: each if isinstance(each, tuple) else (each,) for name, each in bound.items()}
    return {name: ", ".join(code(node).rstrip(", ") for node in each) for name, each in nodes.items()}
