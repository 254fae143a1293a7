"""Render the file of a test."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from devfix.model import Argument, Call, DeviceType, Failure, Recipe
from devfix.regression_tests.builder import TestCodeBuilder, wrap_line

LINES = 40  # of a whole file; a longer test is not useful
_FIXTURES = {"monkeypatch": "pytest.MonkeyPatch", "tmp_path": "Path"}


@dataclass(frozen=True)
class Body:
    """The contents of a test: the lines of its function, and what they need.

    `name` becomes the function's name. `imports` are inside the function, which runs in the requested world; `top` are
    modules of the standard library, imported at the top. `root` is the folder of the imports, relative to the
    repository. `fixtures` are the pytest fixtures that it takes, `above` is the source before the function.
    """

    name: str
    about: str
    lines: tuple[str, ...]
    imports: Mapping[str, Sequence[str]] = field(default_factory=dict)
    top: tuple[str, ...] = ()
    root: str = ""
    fixtures: tuple[str, ...] = ()
    needs_top: bool = False
    uses_torch: bool = True


def body_of_call(call: Call, shown: str) -> Body:
    """Return the body of a test that makes a call. Raises Unwritable if an argument cannot be written."""
    source = TestCodeBuilder()
    owner = ""
    if call.how in ("method", "property") and call.instance is not None:
        owner = source.variable(call.instance, _snake(call.instance.text))
    called = _callee(source, call, owner)
    given: list[str] = []
    named = False
    optimizers = [each for each in call.arguments if any(item.kind == "parameters" for item in each.value.items)]
    written = {id(each): source.variable(each.value, each.name or "item") for each in _in_order(call, optimizers)}
    for each in call.arguments:
        if each.is_default and each.how != "positional":
            named = True
            continue
        value = written[id(each)]
        positional = each.how in ("positional", "more") or (each.how == "plain" and not named)
        given.append(value if positional else f"{each.name}={value}")
    ending = called if call.how == "property" else f"{called}({', '.join(given)})"
    lines = (["torch.manual_seed(0)"] if source.random else []) + source.lines + wrap_line(ending)
    return Body(
        name=_snake(shown.replace(".", "_")),
        about=f"`{shown}`",
        lines=tuple(lines),
        imports=source.imports,
        root=call.root,
        uses_torch=any("torch." in line for line in lines),
    )


def _in_order(call: Call, optimizers: Sequence[Argument]) -> Iterator[Argument]:
    """Yield the arguments to write, optimizers last: they need the modules whose parameters they update."""
    for each in (*(each for each in call.arguments if each not in optimizers), *optimizers):
        if not each.is_default or each.how == "positional":
            yield each


def _callee(source: TestCodeBuilder, call: Call, owner: str) -> str:
    if call.how == "make" and call.instance is not None:
        return source.import_name(call.instance.module, call.instance.text)
    if owner:
        return owner if call.function in ("forward", "__call__") else f"{owner}.{call.function}"
    return source.import_name(call.module, call.function)


def text_of(
    body: Body, failure: Failure, gpus: int, path: str, typed: bool, on_path: bool, device: DeviceType = DeviceType.CUDA
) -> str:
    """Return the file of a test at `path`; `on_path`: it adds the folder of its imports to Python's path."""
    inserted = on_path and bool(body.imports)
    needed = (*body.fixtures, *(["monkeypatch"] if inserted else []))
    modules = {*body.top, *(["from pathlib import Path"] if inserted or body.needs_top else [])}
    last = _last(body.lines)
    return _template().render(
        body=body,
        machine="on a GPU" if gpus else "without a GPU",
        where=_where(failure),
        top=sorted(modules, key=lambda line: (line.startswith("from"), line)),
        above=f"Path(__file__).resolve().parents[{len(PurePosixPath(path).parts) - 1}]",
        folder=PurePosixPath(body.root).parts,
        gpus=gpus,
        world="" if device is DeviceType.CUDA else device.value,
        needed=needed,
        fixtures=[f"{name}: {_FIXTURES[name]}" if typed else name for name in needed],
        typed=typed,
        made=body.lines[:last],
        said=_failure_comment(failure),
        ending=body.lines[last:],
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("devfix.regression_tests"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("test.py.jinja")


def _last(lines: Sequence[str]) -> int:
    """Return the index at which the last statement starts."""
    at = len(lines) - 1
    while at and lines[at].startswith((" ", ")", "]", "}")):
        at -= 1
    return at


def _failure_comment(failure: Failure) -> list[str]:
    """Return the program's failure as lines of a comment."""
    said = re.sub(r"\s+", " ", f"{failure.exception}: {failure.message}").strip()
    said = "".join(letter for letter in said if letter.isascii() and letter.isprintable())
    return textwrap.wrap(said, 80, max_lines=2, placeholder=" ...")


def _where(failure: Failure) -> str:
    at = failure.at
    shown = "".join(letter for letter in at.path if letter.isprintable() and letter not in '"\\') if at else ""
    return f", in {PurePosixPath(shown).name}" if at else ""


def _snake(name: str) -> str:
    snaked = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.rpartition(".")[2]).lower().strip("_")
    return re.sub(r"\W+|__+", "_", snaked) or "value"


def callee_name(call: Call) -> str:
    """Return the name of what a call runs: `Decoder.forward`."""
    if call.how == "make" and call.instance is not None:
        return call.instance.text
    owner: Recipe | None = call.instance
    name = owner.text if owner is not None and owner.kind == "made" else ""
    return f"{name}.{call.function}" if name and call.how != "static" else call.function
