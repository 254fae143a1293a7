"""Read a rule's page: fixed headings, then cases made of fenced blocks."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from devfix.errors import UserError
from devfix.model import World
from devfix.sdk import SAFETIES
from devfix.testing.case import PROGRAM, Block, Case, Page
from devfix.testing.headings import HEADINGS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROLES = ("before", "foreign", "failure", "after", "options")
WORLD = re.compile(r"World: (?:(cpu)|cuda x([1-8])(?:, current ([0-7]))?)\.?")


class PageError(UserError):
    """A page is not in the form of a page; the message names the line."""


def read_page(path: Path) -> Page:
    """Read a page. Raises PageError, naming the line, where it is missing or not in the form of a page."""
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise PageError(f"{path}: the rule has no page; `devfix new-rule` writes one to start from") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PageError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    return parse_page(text, path)


def parse_page(text: str, path: Path) -> Page:
    """Read the text of a page; `path` is for messages."""
    tokens = MarkdownIt("commonmark").parse(text)
    outline = list(_outline(tokens))
    titles = [entry for entry in outline if entry[0] == 1]
    if len(titles) != 1 or outline[0] is not titles[0]:
        raise PageError(f"{path}:1: a page begins with its one title, `# …`: the first docstring line of its rule")
    sections = [entry for entry in outline if entry[0] == 2]
    if tuple(name for _, name, _, _ in sections) != HEADINGS:
        raise PageError(
            f"{path}:1: the headings must be, in this order: {', '.join(f'## {name}' for name in HEADINGS)}"
        )
    for _, name, line, body in sections[:-1]:
        if not any(token.type == "paragraph_open" for token in body):
            raise PageError(f"{path}:{line + 1}: nothing is said under `## {name}`")
    safety = _safety(path, sections[2])
    begin = sections[-1][2]
    cases = tuple(_case(path, *entry[1:]) for entry in outline if entry[0] == 3 and entry[2] > begin)
    names = [case.name for case in cases]
    if not cases or len(set(names)) < len(names):
        raise PageError(f"{path}:{begin + 1}: `## Cases` needs cases, each under a `### name` of its own")
    return Page(path, text, titles[0][1], safety, cases)


def _safety(path: Path, section: tuple[int, str, int, list[Token]]) -> str:
    _, _, line, body = section
    said = next((token.content for token in body if token.type == "inline"), "")
    word = (re.match(r"\w+(?=[.:,])", said) or [""])[0].lower()
    if word not in SAFETIES:
        words = ", ".join(f"`{each.capitalize()}.`" for each in SAFETIES)
        raise PageError(f"{path}:{line + 1}: the answer to `## {HEADINGS[2]}` begins with one of {words}")
    return word


def _outline(tokens: Sequence[Token]) -> Iterator[tuple[int, str, int, list[Token]]]:
    """Yield each heading as (level, text, line from 0, the tokens up to the next heading)."""
    starts = [index for index, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]
    for start, stop in zip(starts, [*starts[1:], len(tokens)], strict=False):
        line = (tokens[start].map or [0])[0]
        yield int(tokens[start].tag[1]), tokens[start + 1].content, line, list(tokens[start + 3 : stop])


def _case(path: Path, name: str, line: int, body: Sequence[Token]) -> Case:
    blocks = tuple(_block(path, token) for token in body if token.type == "fence" and token.level == 0)
    files = {role: _files(path, blocks, role) for role in ("before", "foreign", "after")}
    failures = [block for block in blocks if block.role == "failure"]
    where = f"{path}:{line + 1}: case {name!r}"
    if PROGRAM not in files["before"]:
        raise PageError(f"{where} has no program: a ```python before``` block (of {PROGRAM}, where no file is named)")
    if len(failures) > 1 or (files["after"] and not failures):
        raise PageError(f"{where} needs one ```text failure``` block, since it has `after`: what must become of it")
    if strange := sorted(set(files["after"]) - set(files["before"])):
        raise PageError(f"{where}: `after` has {strange[0]}, which is not among the `before` files")
    return Case(
        name=name,
        line=line + 1,
        world=_world(path, body),
        options=_options(path, blocks),
        before=files["before"],
        foreign=files["foreign"],
        failure=failures[0].content.strip() if failures else None,
        after=files["after"] or None,
        blocks=blocks,
    )


def _block(path: Path, token: Token) -> Block:
    words = token.info.split()
    start, stop = token.map or (0, 0)
    role = words[1] if len(words) > 1 else ""
    if role not in ROLES or len(words) > 3:
        raise PageError(
            f"{path}:{start + 1}: a block of a case begins ```language role [file]```, roles: {', '.join(ROLES)}"
        )
    file = words[2] if len(words) > 2 else PROGRAM
    if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts:
        raise PageError(f"{path}:{start + 1}: {file} must be a path below the program's folder")
    return Block(role, words[0], file, token.content, start, stop)


def _files(path: Path, blocks: Sequence[Block], role: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for block in blocks:
        if block.role == role:
            if block.file in found:
                raise PageError(f"{path}:{block.start + 1}: a second `{role}` for {block.file}")
            found[block.file] = block.content.encode()
    return found


def _world(path: Path, body: Sequence[Token]) -> World:
    for token in body:
        if token.type == "inline" and token.content.startswith("World:"):
            match = WORLD.fullmatch(token.content.strip())
            if match is None:
                line = (token.map or [0])[0] + 1
                raise PageError(
                    f"{path}:{line}: a world is `World: cpu`, `World: cuda x2` or `World: cuda x2, current 1`"
                )
            return World("cpu") if match[1] else World("simulated", int(match[2]), int(match[3] or 0))
    return World("simulated", 1)


def _options(path: Path, blocks: Sequence[Block]) -> MappingProxyType[str, Any]:
    text = "\n".join(block.content for block in blocks if block.role == "options")
    try:
        return MappingProxyType(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        line = next(block.start + 1 for block in blocks if block.role == "options")
        raise PageError(f"{path}:{line}: the options are not TOML: {error}") from error
