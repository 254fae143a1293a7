"""Find other code in the file, or in copies of it, with the same fault as a fix.

Such sites are shown with their diff and never edited, since no run has shown them to fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain, islice
from textwrap import dedent, indent

import libcst as cst

from devfix.diagnosis.twins_in_branches import twins_in_branches
from devfix.diagnosis.uses_of_constants import uses_of_constants
from devfix.model import Edit, Patch, SourceLocation
from devfix.sdk import (
    FACTORIES,
    File,
    Sources,
    add_keyword,
    argument,
    is_bound,
    is_local,
    is_move,
    last_name,
    remove_keyword,
)
from devfix.source import SourceError, check_syntax

PLACES = 20  # at most, for one fix
FILES = 200  # at most, parsed for copies of the faulty line
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w)(?!\s*=[^=])")  # not an attribute, and not a keyword
REGISTERING = ("register_buffer", "register_parameter", "Parameter", "Buffer")
_WRAPPING = re.compile(r"\s+|,(?=\s*[)\]}])")
OWN = re.compile(r"\bself\.[^\W\d]\w*")
Pair = tuple[str, str]  # lines before and after a fix, without their common indentation


def similar_sites(
    patch: Patch, read: Callable[[str], bytes | None], containing: Callable[[Sequence[str]], Iterable[str]]
) -> Iterator[Edit]:
    """Yield an edit for each other place that reads as the fixed one did; `before` is the state after the patch.

    `read` returns the contents after the patch, or None if a file must not be edited. `containing` returns the paths of
    the files that contain one of some texts. A place is skipped unless every name that the new line uses is bound
    there.
    """
    faulty = [old.splitlines()[0] for edit in patch.edits for old, _ in _pairs(edit)]
    every = sorted(path for path in containing(faulty) if path.endswith((".py", ".ipynb")))[:FILES]
    advice = (each for edit in patch.edits for each in _advice(edit, read, every))
    found = chain(advice, uses_of_constants(patch, Sources(read, containing)))
    unique = {(each.path, each.after): each for each in islice(found, PLACES)}
    yield from unique.values()


def _advice(edit: Edit, read: Callable[[str], bytes | None], paths: Iterable[str]) -> Iterator[Edit]:
    pairs = _pairs(edit)
    for path in (edit.path, *(path for path in paths if path != edit.path)):
        data = read(path)
        if data is not None and any(old.splitlines()[0].encode() in data for old, _ in pairs):
            yield from _elsewhere(path, data, pairs)
    data = read(edit.path) or b""
    yield from _siblings(edit, data)
    yield from twins_in_branches(edit, data)


def _pairs(edit: Edit) -> list[Pair]:
    """Return the lines that an edit replaced: one by one, or together where it wrapped them."""
    old, new = (each.decode("utf-8", "replace").splitlines() for each in (edit.before, edit.after))
    pairs = []
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        before, after = old[old_from:old_to], new[new_from:new_to]
        if tag == "replace" and len(before) == len(after):
            pairs += [(one.strip(), other.strip()) for one, other in zip(before, after, strict=True)]
        elif tag == "replace":
            pairs.append((_without_indentation(before), _without_indentation(after)))
    # A bracket or a bare name occurs everywhere and does not identify the fault.
    return [pair for pair in pairs if "(" in pair[0] and len(pair[0]) > 8]


def _without_indentation(lines: Iterable[str]) -> str:
    return dedent("\n".join(line.rstrip() for line in lines)).strip("\n")


def _elsewhere(path: str, data: bytes, pairs: list[Pair]) -> Iterator[Edit]:
    try:
        file = File(path, data)
    except SourceError:
        return
    lines = file.text.splitlines(keepends=True)
    for number, first in enumerate(lines):
        for old, new in pairs:
            names = set(NAME.findall(new)) - set(NAME.findall(old))
            added = set(OWN.findall(new)) - set(OWN.findall(old))
            end = number + 1 + old.count("\n")
            if _without_indentation(lines[number:end]) != old or not _binds(file, number + 1, names, added):
                continue
            ending = first[len(first.rstrip("\r\n")) :]
            made = indent(new, first[: len(first) - len(first.lstrip())]).replace("\n", ending or "\n")
            text = "".join((*lines[:number], made + ending, *lines[end:]))
            after = text.encode(file.module.encoding)
            try:
                check_syntax(path, after)
            except (SyntaxError, ValueError):
                continue
            yield Edit(path, number + 1, data, after)


def _binds(file: File, line: int, names: set[str], attributes: set[str]) -> bool:
    """Return whether every name is bound before a line runs, and the class around it has every attribute."""
    node = file.root_at(SourceLocation(file.path, line, owned=True))
    return node is not None and all(_knows(file, node, name) for name in names) and _has(file, node, attributes)


def _has(file: File, node: cst.CSTNode, attributes: set[str]) -> bool:
    """Return whether the class around a node uses all of some attributes of its object too."""
    holder = file.class_of(node)
    return not attributes or (holder is not None and all(file.find(holder, each) for each in attributes))


def _knows(file: File, node: cst.CSTNode, name: str) -> bool:
    function = file.function_of(node)
    if function is None or is_local(function, name):
        return is_bound(file, node, name)
    return is_bound(file, file.module.body[-1], name)


def _siblings(edit: Edit, data: bytes) -> Iterator[Edit]:
    """Yield the calls in the fixed file without the keyword that the patch added to a call of the same kind."""
    try:
        before, file = File(edit.path, edit.before), File(edit.path, data)
    except SourceError:
        return
    known = {
        _without_wrapping(before.code(node)) for node in before.within(before.module) if isinstance(node, cst.Call)
    }
    calls = [node for node in file.within(file.module) if isinstance(node, cst.Call)]
    for added in calls:
        device = argument(added, "device")
        if device is None or _without_wrapping(file.code(added)) in known:
            continue
        if _without_wrapping(file.code(remove_keyword(added, "device"))) not in known:
            continue
        value = file.code(device.value)
        kin = FACTORIES if last_name(added.func) in FACTORIES else {last_name(added.func)}
        library = _library(file, added)  # Python has a `range` too, and NumPy a `zeros`
        for call in calls:
            function = file.function_of(call)
            root = NAME.findall(value)[0]
            if last_name(call.func) not in kin or argument(call, "device") or function is None or _follows(file, call):
                continue
            if _library(file, call) != library or _moves_with_its_module(file, call):
                continue
            if OWN.search(value) and function.name.value == "__init__":  # which has yet to make what it would read
                continue
            if is_local(function, root) and is_bound(file, call, root) and _has(file, call, set(OWN.findall(value))):
                found = file.edit(file.replace({call: add_keyword(call, "device", value)}))
                if found:
                    yield found


def _without_wrapping(code: str) -> str:
    """Return code without what wraps its lines: a patch may have made one of them too long."""
    return _WRAPPING.sub("", code)


def _moves_with_its_module(file: File, call: cst.Call) -> bool:
    """Return whether a module registers the result of a factory, and so moves it."""
    around = (each for each in file.ancestors(call) if isinstance(each, cst.Call))
    return any(last_name(each.func) in REGISTERING for each in around)


def _library(file: File, call: cst.Call) -> str:
    """Return the first part of the full name of what is called: "torch", or "" of what the file itself defines."""
    return file.qualified_name(call.func).partition(".")[0]


def _follows(file: File, call: cst.Call) -> bool:
    """Return whether the result of a factory follows the device of another tensor, or is moved at once."""
    name, outer = last_name(call.func), file.parent(file.parent(call) or call)
    return name.endswith("_like") or name.startswith("new_") or (outer is not None and is_move(outer))
