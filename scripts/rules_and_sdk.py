"""Write docs/reference/rules.md from the rules' pages, and the reference in docs/reference/sdk.md from the docstrings.

With `--check` nothing is written, and the differences are printed.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_origin

from sdk_examples import EXAMPLES

from devfix import sdk
from devfix.registry import Rule, collect
from devfix.registry.options import format_defaults
from devfix.rule_testing.pages.page import read_page

ROOT = Path(__file__).resolve().parent.parent
RULES, SDK = ROOT / "docs/reference/rules.md", ROOT / "docs/reference/sdk.md"
_BLOCK = re.compile("(<!-- begin reference: [^\n]*-->\n).*?(<!-- end reference -->)", re.DOTALL)
_FIRST = re.compile(r">>> ")


def index() -> str:
    """The index of the rules that come with devfix, from their pages."""
    packs: dict[str, list[Rule]] = {}
    for rule in collect([ROOT / "rules"]).rules:
        if rule.path.is_relative_to(ROOT / "rules"):
            packs.setdefault(rule.pack, []).append(rule)
    count = sum(map(len, packs.values()))
    lines = [
        "# The rules",
        "",
        f"{count} rules come with devfix. `devfix explain PACK/NAME` shows a rule's page, `devfix test PACK/NAME`",
        "runs its cases, and [Write a rule](../tutorials/writing-rules.md) is the tutorial.",
        "",
        "Generated from the pages by `scripts/rules_and_sdk.py`.",
    ]
    for pack, rules in sorted(packs.items()):
        said = ast.get_docstring(ast.parse((rules[0].path.parent / "__init__.py").read_bytes())) or ""
        lines += [
            "",
            f"## {pack}",
            "",
            said.strip(),
            "",
            "| rule | what is wrong | safety | cases |",
            "|---|---|---|---|",
        ]
        lines += [_row(rule) for rule in rules]
    return "\n".join(lines) + "\n"


def _row(rule: Rule) -> str:
    if not rule.page.exists():
        return f"| {rule.id} | {rule.title} | | no page yet |"
    page = read_page(rule.page)
    alone = sum(case.after is None for case in page.cases)
    name = f"[{rule.id}](../../{rule.page.relative_to(ROOT)})"
    title = rule.title
    if rule.options is not None:
        title += f" Options: {', '.join(f'`{option}`' for option in format_defaults(rule.options))}."
    cases = f"{len(page.cases) - alone} repaired, {alone} left alone"
    return f"| {name} | {title} | {page.safety} | {cases} |"


def reference() -> str:
    """A section for each public name of the SDK: its signature, what it does, an example."""
    return "\n".join(line for name in sorted(sdk.__all__, key=_order) for line in _section(name))


def _order(name: str) -> tuple[bool, str]:
    return not is_class(getattr(sdk, name)), name.lower()


def is_class(thing: object) -> bool:
    """Return whether a public name is a class; `Iterator[Change]`, which Python 3.10 takes for one, is none."""
    return inspect.isclass(thing) and get_origin(thing) is None


def _section(name: str) -> Iterator[str]:
    thing = getattr(sdk, name)
    yield f"### `{name}{_signature(thing)}`"
    yield ""
    prose, example = split_docstring(name)
    yield prose
    if is_class(thing):
        yield from _members(thing)
    if example:
        yield ""
        yield f"```pycon\n{example}\n```"
    yield ""


def _signature(thing: object) -> str:
    if not inspect.isfunction(thing):
        return ""
    whole = str(inspect.signature(thing)).replace("'", "")
    whole = re.sub(r"<(\w+\.\w+): [^>]*>", r"\1", whole)  # the default is a member of an enum
    whole = re.sub(r"<function \S+ at \w+>", "…", whole)
    whole = re.sub(r"\b(?:devfix|libcst)\.[\w.]*\.", "", whole)
    return re.sub(r"^\(self(?:, )?", "(", whole)


def _members(thing: type) -> Iterator[str]:
    fields = getattr(thing, "__dataclass_fields__", {})
    if fields:
        yield ""
        yield "Fields: " + ", ".join(f"`{name}: {field.type}`" for name, field in fields.items()) + "."
    elif "__init__" in vars(thing) or "__init__" in vars(thing.__mro__[1]):
        yield ""
        yield f"Made by `{thing.__name__}{_signature(thing.__init__).removesuffix(' -> None')}`."  # type: ignore[misc]
    methods = [(name, each) for name, each in inspect.getmembers(thing) if not name.startswith("_")]
    said = [
        (name + _signature(each), inspect.getdoc(each) or "")
        for name, each in methods
        if inspect.isfunction(each) or isinstance(each, property)
    ]
    if said:
        yield ""
        yield from (f"- `.{name}`: {_prose(text).splitlines()[0]}" for name, text in said if text)


def split_docstring(name: str) -> tuple[str, str]:
    """Return the text of a public name's docstring, and its example: from the docstring, else from sdk_examples.py."""
    thing = getattr(sdk, name)
    text = inspect.getdoc(thing) or "" if callable(thing) else ""
    found = _FIRST.search(text)
    prose, example = (text[: found.start()], text[found.start() :]) if found else (text, "")
    told = EXAMPLES.get(name)
    if isinstance(told, tuple):
        prose, example = told
    return _prose(prose), (example or (told if isinstance(told, str) else "") or "").strip()


def _prose(text: str) -> str:
    return text.split(">>>")[0].strip()


def fill(page: str) -> str:
    """Return the page with its reference regenerated."""
    return _BLOCK.sub(lambda match: match[1] + "\n" + reference() + match[2], page)


def main() -> int:
    """Write both pages, or say what has drifted."""
    drifted = 0
    for path, text in ((RULES, index()), (SDK, fill(SDK.read_text("utf-8")))):
        now = path.read_text("utf-8") if path.exists() else ""
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif now != text:
            drifted = 1
            print(
                "".join(difflib.unified_diff(now.splitlines(True), text.splitlines(True), str(path), "as it should be"))
            )
    return drifted


if __name__ == "__main__":
    sys.exit(main())
