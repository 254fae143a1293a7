"""Read one case of a rule's page: fenced blocks under a heading."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from markdown_it.token import Token

from devfix.errors import UserError
from devfix.model import DeviceType, World
from devfix.rule_testing.pages.case import PROGRAM, ROLES, Block, Case, Role

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WORLD = re.compile(r"World: (?:(cpu)|(mps)|(cuda|xpu) x([1-8])(?:, current ([0-7]))?)\.?")


class PageError(UserError):
    """A page is not in the form of a page; the message names the line."""


def read_case(path: Path, name: str, line: int, body: Sequence[Token]) -> Case:
    """Return the case under a heading on a line (from 0), parsed from the tokens below it. Raises PageError."""
    blocks = tuple(_block(path, token) for token in body if token.type == "fence" and token.level == 0)
    sides: tuple[Role, ...] = ("before", "foreign", "after")
    files = {role: _files(path, blocks, role) for role in sides}
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
    role = next((each for each in ROLES if words[1:2] == [each]), None)
    if role is None or len(words) > 3:
        raise PageError(
            f"{path}:{start + 1}: a block of a case begins ```language role [file]```, roles: {', '.join(ROLES)}"
        )
    file = words[2] if len(words) > 2 else PROGRAM
    if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts:
        raise PageError(f"{path}:{start + 1}: {file} must be a path below the program's folder")
    return Block(role, words[0], file, token.content, start, stop)


def _files(path: Path, blocks: Sequence[Block], role: Role) -> dict[str, bytes]:
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
                    f"{path}:{line}: a world is `World: cpu`, `World: mps`, `World: cuda x2` or "
                    "`World: cuda x2, current 1`"
                )
            if match[1]:
                return World("cpu")
            device = DeviceType(match[2] or match[3])
            return World("simulated", int(match[4] or 1), int(match[5] or 0), device)
    return World("simulated", 1)


def _options(path: Path, blocks: Sequence[Block]) -> MappingProxyType[str, Any]:
    text = "\n".join(block.content for block in blocks if block.role == "options")
    try:
        return MappingProxyType(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        line = next(block.start + 1 for block in blocks if block.role == "options")
        raise PageError(f"{path}:{line}: the options are not TOML: {error}") from error
