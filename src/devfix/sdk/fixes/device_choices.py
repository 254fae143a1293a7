"""Expressions that choose a device when the program runs, for the accelerators that it has to run on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import libcst as cst

from devfix.model import SourceLocation
from devfix.source import File, Sources
from devfix.source.edits.device_arguments import literal_node
from devfix.source.edits.imports import with_import
from devfix.source.queries.modules import file_of_module, imported_as
from devfix.source.queries.naming import imported_name
from devfix.source.queries.optional import may_be_none
from devfix.source.queries.reading import assignments, parameters
from devfix.source.queries.requirements import declared_minimum

_DEVICE = re.compile(r"(^|_)(device|dev)($|_)", re.IGNORECASE)
_ASKS = {
    "cuda": r"\bcuda\.is_available\b",
    "mps": r"\bbackends\.mps\b|\bmps\.is_available\b",
    "xpu": r"\bxpu\.is_available\b",
}
_ANY = r"\bcurrent_accelerator\b|\baccelerator\.is_available\b"
_WITH_ACCELERATOR = (2, 6)  # the first release that has torch.accelerator


@dataclass(frozen=True)
class DeviceChoice:
    """An expression that chooses a device, `text`; where `member` is set, it is imported from `module` for that.

    >>> DeviceChoice("pick_device()", "acme.devices", "pick_device").add_import(File("m.py", b"import torch\\n")).code
    'import torch\\nfrom acme.devices import pick_device\\n'
    """

    text: str
    module: str = ""
    member: str = ""

    def add_import(self, file: File) -> cst.Module:
        """Return a file's module with the import that the expression needs."""
        return with_import(file.module, self.module, self.member) if self.member else file.module


def device_literal(file: File, node: cst.BaseExpression, sources: Sources) -> tuple[File, cst.SimpleString] | None:
    """Return the string from which an expression takes its device, and its file; None if there is none.

    Names that are assigned once are followed, through an import too.

    >>> file = File("m.py", b'd = torch.device("cuda")\\nx = x.to(d)\\n')
    >>> found, literal = device_literal(file, file.find(file.module, "d")[-1], source)
    >>> found.path, found.code(literal)
    ('m.py', '"cuda"')
    """
    here = literal_node(file, node)
    if here is not None:
        return file, here
    imported = imported_as(file, file.code(node))
    if imported is None or len(imported.parts) < 2:
        return None
    path = file_of_module(imported, len(imported.parts) - 1, sources.paths(), file.path)
    other = sources.file(SourceLocation(path, 1, owned=True)) if path else None
    values = assignments(other, imported.parts[-1]) if other is not None else []
    if other is None or len(values) != 1 or values[0].value is None:
        return None
    literal = literal_node(other, values[0].value)
    return (other, literal) if literal is not None else None


def device_choices(
    file: File, sources: Sources, kinds: Sequence[str] = (), literal: str = '"cuda"'
) -> Iterator[DeviceChoice]:
    """Yield expressions for "CUDA, else one of `kinds`, else the CPU", best first, that a file can write.

    The repository's own choice comes first: a constant, or a function without parameters. Otherwise `torch.accelerator`
    is asked, or each kind by itself if the repository supports releases of torch without it, or if `literal` names one
    GPU of several.

    >>> file = File("m.py", b"import torch\\n")
    >>> [each.text for each in device_choices(file, source)]
    ['"cuda" if torch.cuda.is_available() else "cpu"']
    >>> [each.text for each in device_choices(file, source, ["mps"], '"cuda:1"')]
    ['"cuda:1" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"']
    """
    if kinds:
        yield from _own_choices(file, sources, kinds)
    torch = imported_name(file, "torch")
    asked = imported_name(file, "torch.cuda.is_available")
    if torch and kinds and literal[1:-1] == "cuda" and _has_accelerator(sources):
        name = f"{torch}.accelerator"
        yield DeviceChoice(f'{name}.current_accelerator().type if {name}.is_available() else "cpu"')
    elif asked and (torch or not kinds):
        words = {"mps": f"{torch}.backends.mps.is_available()", "xpu": f"{torch}.xpu.is_available()"}
        others = "".join(f'"{kind}" if {words[kind]} else ' for kind in kinds if kind in words)
        yield DeviceChoice(f'{literal} if {asked}() else {others}"cpu"')


def _has_accelerator(sources: Sources) -> bool:
    lowest = declared_minimum(sources, "torch")
    return not lowest or lowest >= _WITH_ACCELERATOR


def _own_choices(file: File, sources: Sources, kinds: Sequence[str]) -> Iterator[DeviceChoice]:
    """Yield what the repository itself chooses a device by, on all of some kinds of accelerator."""
    for other in sources.containing("is_available", "current_accelerator"):
        for name, text in _choosing(other, kinds):
            if other.path == file.path:
                yield DeviceChoice(text)
            elif not file.binds_anywhere(name):
                module = "" if _runs_or_needs(other, file) else _import_path(file, other.path, sources.paths())
                if module:
                    yield DeviceChoice(text, module, name)
            elif (known := imported_as(file, name)) is not None and known.parts[-2:] == (_stem(other.path), name):
                yield DeviceChoice(text)


def _choosing(file: File, kinds: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of constants and functions of a file that choose a device, and the expressions that read them."""
    functions = set()
    for node in file.module.body:
        if isinstance(node, cst.FunctionDef) and _DEVICE.search(node.name.value) and not parameters(node):
            if _asks_for(file.code(node), kinds) and any(_returns_of(file, node)):
                functions.add(f"{node.name.value}()")
                yield node.name.value, f"{node.name.value}()"
        elif isinstance(node, cst.SimpleStatementLine):
            for statement in node.body:
                if isinstance(statement, cst.Assign) and isinstance(target := statement.targets[0].target, cst.Name):
                    value = file.code(statement.value)
                    if _DEVICE.search(target.value) and (_asks_for(value, kinds) or value in functions):
                        yield target.value, target.value


def _returns_of(file: File, function: cst.FunctionDef) -> Iterator[cst.Return]:
    return (each for each in file.within(function) if isinstance(each, cst.Return) and each.value is not None)


def _asks_for(text: str, kinds: Sequence[str]) -> bool:
    """Return whether code asks for CUDA and for all of some other kinds, or for any accelerator."""
    return bool(re.search(_ANY, text)) or all(re.search(_ASKS.get(kind, _ANY), text) for kind in ("cuda", *kinds))


def _runs_or_needs(other: File, file: File) -> bool:
    """Return whether a file is a program, which is not to be imported, or imports the other one itself."""
    calls = [
        part
        for statement in other.module.body
        if isinstance(statement, cst.SimpleStatementLine)
        for part in statement.body
        if isinstance(part, cst.Expr) and isinstance(part.value, cst.Call)
    ]
    text, stem = other.text, re.escape(_stem(file.path))
    return bool(calls) or "__main__" in text or bool(re.search(rf"^\s*(from|import)\b.*\b{stem}\b", text, re.MULTILINE))


def _stem(path: str) -> str:
    """Return the last name of the module of a path."""
    found = PurePosixPath(path)
    return found.parent.name if found.stem == "__init__" else found.stem


def _import_path(file: File, path: str, paths: Sequence[str]) -> str:
    """Return how a file imports the module of another path; "" if it is not known to be importable from there."""
    here, there = PurePosixPath(file.path), PurePosixPath(path)
    package = there.parent
    while package.parts and f"{package}/__init__.py" in paths:
        package = package.parent
    parts = there.relative_to(package).with_suffix("").parts
    if len(parts) == 1:  # a module that is in no package, which only programs beside it find
        return parts[0] if here.parent == there.parent else ""
    relative = any(isinstance(each, cst.ImportFrom) and each.relative for each in file.within(file.module))
    if here.parent == there.parent and relative:
        return f".{there.stem}"
    inside = package in here.parents or package.name == "src" or not package.parts
    return ".".join(parts) if inside else ""


def gpu_of_number(
    file: File, node: cst.CSTNode, number: str, kind: str = "cuda", asks: bool = False, otherwise: str = "None"
) -> str:
    """Return an expression for the GPU of a number at a node, for what takes no number.

    A number that may be None in other calls is tested, and `otherwise` is what stands for it there. `asks` says that
    the program asks whether there is a GPU.

    >>> file = File("m.py", b"import torch\\ndef f(path, gpu=None):\\n    return torch.load(path)\\n")
    >>> node = file.find(file.module, "torch.load(path)")[0]
    >>> gpu_of_number(file, node, "gpu")
    'f"cuda:{gpu}" if gpu is not None else None'
    >>> gpu_of_number(file, node, "1", asks=True)
    '"cuda:1" if torch.cuda.is_available() else "cpu"'
    """
    quote = "'" if '"' in number else '"'
    named = f"{quote}{kind}:{number}{quote}" if number.isdigit() else f"f{quote}{kind}:{{{number}}}{quote}"
    available = imported_name(file, f"torch.{kind}.is_available")
    if not number.isdigit() and may_be_none(file, node, number):
        return f"{named} if {number} is not None else {otherwise}"
    return f'{named} if {available}() else "cpu"' if asks and available else named
