"""A test that runs the failing program, for failures that no single call reproduces."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from devfix.model import Target
from devfix.regression_tests.builder import wrap_line
from devfix.regression_tests.render import Body

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def body_of_program(target: Target, in_temporary_folder: bool = False) -> Body | None:
    """Return the body of a test that runs the target's command; None if the command depends on this machine.

    A program that does not end by itself has no such test.
    """
    if target.until is not None:  # it does not end by itself
        return None
    words = list(target.command)
    settings = []
    if words[:1] == ["env"]:
        words = words[1:]
    while words and _ASSIGNMENT.match(words[0]):
        settings.append(words.pop(0))
    if words[:1] != [str(target.python)] or words[1:3] == ["-m", "pytest"] or not all(map(_is_plain, words[1:])):
        return None
    rest = words[1:]
    known = rest[:1] in (["-m"], ["-c"]) or (rest and not rest[0].startswith("-"))
    if not known or not all(map(_is_plain, settings)):
        return None
    script = rest[0].endswith(".py")
    if in_temporary_folder and not script:
        return None
    return Body(
        name=_name(rest) + "_runs",
        about=f"`{_describe(rest)}`",
        lines=tuple(_lines(rest, settings, target.subfolder, in_temporary_folder)),
        top=("import subprocess", "import sys", *(["import os"] if settings else [])),
        fixtures=("tmp_path",) if in_temporary_folder else (),
        needs_top=True,
        uses_torch=False,
    )


def _lines(rest: Sequence[str], settings: Sequence[str], subfolder: str, in_temporary_folder: bool) -> Iterator[str]:
    root = "ROOT" + "".join(f" / {_quote(part)}" for part in PurePosixPath(subfolder).parts)
    words = [*map(_quote, rest)]
    if in_temporary_folder:
        words[0] = f"{root} / {words[0]}"
    given = f"cwd={'tmp_path' if in_temporary_folder else root}, check=True"
    if settings:
        pairs = [setting.partition("=") for setting in settings]
        added = ", ".join(f"{_quote(name)}: {_quote(value)}" for name, _, value in pairs)
        given += f", env={{**os.environ, {added}}}"
    yield from wrap_line(f"subprocess.run([sys.executable, {', '.join(words)}], {given})")


def _is_plain(word: str) -> bool:
    """Return whether a word of the command has the same meaning on another machine, and fits into a line."""
    inner = word.rpartition("=")[2]
    return word.isprintable() and len(word) <= 200 and not any(map(os.path.isabs, (word, inner)))


def _describe(rest: Sequence[str]) -> str:
    text = " ".join(["python", *rest])
    return "a console script" if rest[0] == "-c" else re.sub(r"[`\"\\]", "", text)[:60].strip()


def _name(rest: Sequence[str]) -> str:
    word = rest[1] if rest[0] == "-m" else "console_script" if rest[0] == "-c" else PurePosixPath(rest[0]).stem
    return re.sub(r"\W+|__+", "_", word).strip("_").lower() or "program"


def _quote(word: str) -> str:
    text = repr(word)
    return f'"{text[1:-1]}"' if '"' not in text and "\\" not in text and text[0] == "'" else text
