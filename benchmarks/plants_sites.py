"""Places at which the removal of one word of a library makes a device bug, found in its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MAKERS = frozenset(
    (
        *("zeros", "ones", "empty", "full", "tensor", "as_tensor", "arange", "linspace", "logspace", "eye"),
        *("rand", "randn", "randint", "randperm", "zeros_like", "ones_like", "empty_like", "full_like"),
    )
)
_OF_VALUES = frozenset({"tensor", "as_tensor", "new_tensor"})
_LIKE = {"zeros_like": "zeros", "ones_like": "ones", "rand_like": "rand", "randn_like": "randn"}
_NEW = {"new_zeros": "zeros", "new_ones": "ones", "new_tensor": "tensor"}


@dataclass(frozen=True)
class Plant:
    """A change of one expression: where it is, what it removes, and the text of the file with it."""

    path: str
    line: int
    end: int
    function: str
    first: int  # line of the function
    last: int
    removed: str
    old: str
    start: int  # offsets in bytes
    stop: int
    new: str

    def apply(self, text: bytes) -> bytes:
        """Return the text of the file with the plant."""
        return text[: self.start] + self.new.encode() + text[self.stop :]


class _Source:
    """The text of a file, by the positions of its tree."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text.encode()
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def start(self, node: ast.AST) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def stop(self, node: ast.AST) -> int:
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.AST) -> str:
        return self.text[self.start(node) : self.stop(node)].decode()


def plants(root: Path, package: str) -> Iterator[Plant]:
    """Yield what can be planted in the files of a package, in the order of their paths and lines."""
    for path in sorted((root / package).rglob("*.py")):
        relative = path.relative_to(root).as_posix()
        if not any(part.startswith("test") for part in relative.split("/")):
            source = _Source(relative, path.read_text(encoding="utf-8"))
            yield from _in_file(source)


def _in_file(source: _Source) -> Iterator[Plant]:
    tree = ast.parse(source.text)
    functions = [each for each in ast.walk(tree) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    imports = {alias.name for each in ast.walk(tree) if isinstance(each, ast.Import) for alias in each.names}
    if "torch" not in imports:
        return
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)]
    for call in sorted(calls, key=lambda each: (each.lineno, each.col_offset)):
        around = [each for each in functions if each.lineno <= call.lineno <= (each.end_lineno or 0)]
        change = _change(source, call)
        if around and change is not None:
            inner = max(around, key=lambda each: each.lineno)
            removed, new = change
            yield Plant(
                source.path, call.lineno, call.end_lineno or call.lineno, inner.name, inner.lineno,
                inner.end_lineno or 0, removed, source.of(call), source.start(call), source.stop(call), new,
            )  # fmt: skip


def _change(source: _Source, call: ast.Call) -> tuple[str, str] | None:
    """Return what the removal from a call is called, and the text in place of the call; None where there is none."""
    name, receiver = call.func.attr, call.func.value  # type: ignore[attr-defined]
    keywords = {each.arg: each for each in call.keywords}
    is_torch = isinstance(receiver, ast.Name) and receiver.id == "torch"
    if name in _OF_VALUES and not (call.args and isinstance(call.args[0], (ast.List, ast.Tuple, ast.ListComp))):
        return None  # a number, perhaps, which meets tensors on any device
    if is_torch and name in _MAKERS and "device" in keywords:
        rest = [source.of(each) for each in (*call.args, *call.keywords) if each is not keywords["device"]]
        return "device=", f"torch.{name}({', '.join(rest)})"
    if is_torch and name in _LIKE and len(call.args) == 1 and not keywords:
        given = source.of(call.args[0])
        return f"{name}", f"torch.{_LIKE[name]}(({given}).shape, dtype=({given}).dtype)"
    if not is_torch and name in _NEW and "device" not in keywords:
        rest = [source.of(each) for each in (*call.args, *call.keywords)]
        dtype = [] if "dtype" in keywords else [f"dtype=({source.of(receiver)}).dtype"]
        return f"{name}", f"torch.{_NEW[name]}({', '.join([*rest, *dtype])})"
    if name == "to" and not is_torch:
        given = [*call.args, *(each.value for each in call.keywords)]
        if len(given) == 1 and _is_device(source.of(given[0])):
            return ".to(device)", f"({source.of(receiver)})"
    if name == "register_buffer" and source.of(receiver) == "self" and len(call.args) == 2:
        key, value = call.args
        is_tensor = not isinstance(value, ast.Constant)
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and is_tensor:
            return "register_buffer", f"self.{key.value} = {source.of(value)}"
    return None


def _is_device(text: str) -> bool:
    return text == "device" or text.endswith((".device", "_device"))
