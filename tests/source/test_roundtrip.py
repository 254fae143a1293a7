"""Sources keep every byte that an edit does not name: over the files of installed packages, and odd ones of our own."""

from __future__ import annotations

import os
import random
import sysconfig
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devfix.sdk import add_keyword, insert_before, move_to
from devfix.source import File, SourceError

ALL = bool(os.environ.get("DEVFIX_HARM_POINTS"))
SAMPLE = 25
LARGEST = 60_000  # bytes of a file whose positions are looked up; parsing has no such bound

PIECES = [
    *(
        "import torch\n",
        "x = f(a, 1)\n",
        "x = f(\n    a,  # c\n)\n",
        "if x:\n\ty = g( b )\n",
        "def f(a, *b, **c):\n    return h(a)\n",
    ),
    *(
        "\x0c\n",
        "\x0cclass A: pass\n",
        "# é\n",
        "s = 'é' + str(b)\n",
        "x = [\n  f(a)]\n",
        "\\\n\n",
        "y = f(a); z = g(b)\n",
        "#\n\n\n",
    ),
    *(
        "async def g():\n    return await f(a)\n",
        "x = f(a) if b else \\\n    g(c)\n",
        "with f(a) as b, g(c):\n    pass\n",
        "lambda: f(a)\n",
    ),
    *('x = """\n  f(a)\n"""\n', "x = rb'\\x00' ; f(a)\n", "@f(a)\ndef g(): ...\n", "print(f'{f(a)!r:>{w}}')\n"),
]
pieces = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
ends = st.sampled_from(["\n", "\r\n", "\r"])
heads = st.sampled_from([b"", b"\xef\xbb\xbf", b"# -*- coding: utf-8 -*-\n"])
tails = st.sampled_from([b"", b"x = f(a)", b"\n\n  # end", b"\t"])
sources = st.builds(
    lambda head, text, end, tail: head + text.replace("\n", end).encode() + tail, heads, pieces, ends, tails
)


def installed() -> list[Path]:
    folders = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")}
    return sorted(path for folder in folders for path in Path(folder).rglob("*.py") if path.is_file())


def check(path: str, data: bytes, choose: random.Random, edits: int = 3) -> str:
    """Parse, print back and edit; return why the file is not editable, "" where it is."""
    try:
        file = File(path, data)
    except SourceError as error:
        return str(error)
    assert file.module.bytes == data and file.edit(file.module) is None
    if len(data) > LARGEST:
        return ""
    # The span of a call leaves out its own parentheses, around which an edit may write: `(f(x)).to(d)`.
    calls = [node for node in file.within(file.module) if isinstance(node, cst.Call) and not node.lpar]
    for call in choose.sample(calls, min(edits, len(calls))):
        start, stop = file._spans[call]
        text = file.module.code.encode("utf-8")
        new = choose.choice([add_keyword(call, "devfix_d", "d"), move_to(call, "d")])
        after = file.replace({call: new}).code.encode("utf-8")
        assert after.startswith(text[:start]) and after.endswith(text[stop:]), f"{path}: {file.code(call)[:200]}"
        assert after != text
        statement = file.statement_of(call)
        if statement is None:
            continue
        edited = insert_before(file, statement, ["devfix_d = 1"])
        if edited is not None:
            lines, longer = (
                each.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True) for each in (data, edited.bytes)
            )
            assert len(longer) == len(lines) + 1
            at = next(number for number, line in enumerate(longer) if b"devfix_d = 1" in line)
            assert longer[:at] + longer[at + 1 :] == lines, f"{path}: {file.code(call)[:200]}"
    return ""


@pytest.mark.slow
def test_the_files_of_installed_packages() -> None:
    choose = random.Random(8)
    files = installed()
    chosen = files if ALL else choose.sample(files, min(SAMPLE, len(files)))
    refused = []
    for path in chosen:
        data = path.read_bytes()
        why = check(str(path), data, choose)
        if why:
            try:
                compile(data, str(path), "exec", dont_inherit=True)
            except (SyntaxError, ValueError, RecursionError):
                continue  # Python 2, templates, tests of broken files: the interpreter does not read them either
            refused.append(why)
    print(f"{len(chosen)} files, {len(refused)} of them not editable", *refused[:20], sep="\n")
    assert len(refused) <= len(chosen) // 500 + 1, "\n".join(refused[:20])


@pytest.mark.slow
@settings(max_examples=2000 if ALL else 150, deadline=None, suppress_health_check=list(HealthCheck))
@given(sources, st.randoms(use_true_random=False))
def test_odd_files(data: bytes, choose: random.Random) -> None:
    check("m.py", data, choose)


@settings(max_examples=2000 if ALL else 150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(st.binary(max_size=200), st.text().map(str.encode)))
def test_what_is_no_python_is_refused_in_one_line(data: bytes) -> None:
    why = check("m.py", data, random.Random(0))
    assert not why or (why.startswith("m.py: not editable") and "\n" not in why)


@pytest.mark.parametrize(
    "data",
    [
        b"# -*- coding: latin-1 -*-\nx = f('\xe9', a)\n",
        b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = f('\x80')\n",
        b"\xef\xbb\xbfx = f(a)\r\n",
        b"x = f(a)\r\ny = g(b)\n",
        b"if x:\n\ty = f(a)\n        z = 1\n",
        b"x = f(a)\x0c\n\x0cy = g(b)\n",
        b"print 'python 2', f(a)\n",
        b"",
    ],
)
def test_odd_bytes(data: bytes) -> None:
    check("m.py", data, random.Random(1), edits=9)
