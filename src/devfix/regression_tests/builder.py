"""Generate the lines of a test that recreate values from their recipes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from devfix.model import Recipe

_DEFAULTS = {"float32", "int64", "bool"}
_BRACKETS = {"list": "[]", "set": "{}"}
_WIDTH = 88  # the limit of most formatters


class Unwritable(Exception):
    """A value that source code cannot recreate; the message is the reason."""


class TestCodeBuilder:
    """Collects the lines of a test; `names` are those taken by imports and variables."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.imports: dict[str, list[str]] = {}
        self.random = False
        self._names: dict[str, str] = {}
        self._arguments: dict[str, str] = {}

    def variable(self, recipe: Recipe, name: str) -> str:
        """Return an expression for a value; anything but a literal is assigned to `name` in lines of its own first."""
        if recipe.kind not in ("tensor", "made"):
            return self.expression(recipe)
        argument, name = name, self._free(name)
        self._arguments[argument] = name
        rest: tuple[tuple[str, str], ...] = ()
        if recipe.kind == "made" and any(part for part, _ in recipe.moves):
            rest = tuple(move for move in recipe.moves if move[0])
        self.lines += wrap_line(f"{name} = {self.expression(recipe, moved_later=bool(rest))}")
        self.lines += [f"{_part(name, part)}.to({device!r})".replace("'", '"') for part, device in rest]
        return name

    def expression(self, recipe: Recipe, moved_later: bool = False) -> str:
        """Return Python for a value. Raises Unwritable if there is none."""
        kind = recipe.kind
        if kind == "literal":
            return _double_quoted(recipe.text)
        if kind == "device":
            return f'torch.device("{recipe.text}")'
        if kind == "parameters":
            return f"{self._argument(recipe.text)}.parameters()"
        if kind == "name":
            return self.import_name(recipe.module, recipe.text)
        if kind == "tensor":
            return self._tensor(recipe)
        if kind == "made":
            return self._construction(recipe, moved_later)
        if kind == "unknown":
            raise Unwritable(f"an argument is {_article(recipe.text or 'unknown')}, which cannot be written down")
        items = [self.expression(item) for item in recipe.items]
        if kind == "dict":
            pairs = zip(items[::2], items[1::2], strict=True)
            return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        if kind == "tuple":
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if kind == "set" and not items:
            return "set()"
        return f"{_BRACKETS[kind][0]}{', '.join(items)}{_BRACKETS[kind][1]}"

    def import_name(self, module: str, name: str) -> str:
        """Return an expression for a name of a module, and import it; names of torch are reached through `torch`."""
        if module == "torch":
            return f"torch.{name}"
        first = name.split(".")[0]
        if self._names.setdefault(first, module) != module or first == "torch":
            raise Unwritable(f"two modules have a {first}")
        names = self.imports.setdefault(module, [])
        if first not in names:
            names.append(first)
        return name

    def _argument(self, name: str) -> str:
        if name not in self._arguments:
            raise Unwritable(f"an optimizer comes before {name}, whose parameters it steps")
        return self._arguments[name]

    def _construction(self, recipe: Recipe, moved_later: bool) -> str:
        if not moved_later and any(part for part, _ in recipe.moves):
            raise Unwritable(f"parts of a {recipe.text} lie on several devices")
        self.random = True
        given = [self.expression(item) for item in recipe.items]
        given += [f"{name}={self.expression(value)}" for name, value in recipe.keywords]
        text = f"{self.import_name(recipe.module, recipe.text)}({', '.join(given)})"
        to = [f'"{device}"' for part, device in recipe.moves if not part]
        to += [f"torch.{recipe.dtype}"] if recipe.dtype else []
        return text + (f".to({', '.join(to)})" if to else "") + (".eval()" if recipe.evaluates else "")

    def _tensor(self, recipe: Recipe) -> str:
        said, shape = recipe.text, ", ".join(map(str, recipe.shape)) or "()"
        tail = "" if recipe.dtype in _natural(said) else f", dtype=torch.{recipe.dtype}"
        tail += "" if recipe.device == "cpu" else f', device="{recipe.device}"'
        whole = f"({', '.join(map(str, recipe.shape))}{',' if len(recipe.shape) == 1 else ''})"
        self.random = self.random or said in ("integers", "flags", "unit", "normal")
        ends = recipe.numbers.strip("[]")
        text = {
            "values": f"torch.tensor({recipe.numbers}{tail})",
            "zeros": f"torch.zeros({shape}{tail})",
            "ones": f"torch.ones({shape}{tail})",
            "full": f"torch.full({whole}, {recipe.numbers}{tail})",
            "arange": f"torch.arange({ends}{tail})",
            "integers": f"torch.randint({ends}, {whole}{tail})",
            "flags": f"(torch.randn({shape}{tail}) > 0)",
            "unit": f"torch.rand({shape}{tail})",
            "normal": f"torch.randn({shape}{tail})",
        }[said]
        return text + (".requires_grad_()" if recipe.grad else "")

    def _free(self, name: str) -> str:
        while name in self._names or name in ("torch", "pytest", "sys", "subprocess", "Path", "monkeypatch"):
            name += "_"
        self._names[name] = ""
        return name


def _natural(said: str) -> set[str]:
    """Return the dtypes that need not be written for a tensor with this content."""
    if said in ("zeros", "ones", "unit", "normal"):
        return {"float32"}
    return {"bool", "float32"} if said == "flags" else {"int64"} if said in ("integers", "arange") else set(_DEFAULTS)


def _part(name: str, path: str) -> str:
    """Return the expression of a part of a module: `model.layers[0]`."""
    return name + "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in path.split("."))


def _double_quoted(text: str) -> str:
    return f'"{text[1:-1]}"' if text[:1] == "'" and '"' not in text and "\\" not in text else text


def _article(name: str) -> str:
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


def wrap_line(line: str, indent: int = 4) -> list[str]:
    """Split a line that is too long at the commas of its outermost brackets, as formatters do."""
    if len(line) + indent <= _WIDTH:
        return [line]
    start, pieces, end = _taken_apart(line)
    if not pieces:
        return [line]
    inner = [part for piece in pieces for part in wrap_line(f"{piece},", indent + 4)]
    return [start, *("    " + part for part in inner), *([end] if end else [])]


def _taken_apart(line: str) -> tuple[str, Sequence[str], str]:
    """Split a line into the start up to its first bracket, the items between commas in it, and the rest."""
    at = next((place for place, letter in _outside_of_strings(line) if letter in "([{"), len(line))
    pieces, depth, begin = [], 0, at + 1
    for place, letter in _outside_of_strings(line):
        if place < at:
            continue
        depth += (letter in "([{") - (letter in ")]}")
        if (letter == "," and depth == 1) or (letter in ")]}" and depth == 0):
            if piece := line[begin:place].strip():
                pieces.append(piece)
            begin = place + 1
        if depth == 0:
            return line[: at + 1], pieces, line[place:]
    return line, (), ""


def _outside_of_strings(line: str) -> Iterator[tuple[int, str]]:
    strings = [(found.start(), found.end()) for found in re.finditer(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", line)]
    for place, letter in enumerate(line):
        if not any(begin <= place < end for begin, end in strings):
            yield place, letter
