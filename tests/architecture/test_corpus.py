"""Every case of the corpus says what must come of it, in words that hold for its program."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import cases  # noqa: E402
import places  # noqa: E402

import corpus  # noqa: E402

FOLDERS = sorted(path.parent for path in (ROOT / "corpus").glob("*/case.toml"))
OUTCOMES = {"repaired", "clean", "unrepaired", "dependency-fault"}
WORLDS = {"cpu", "cuda x1", "cuda x2", "cuda x2, current 1"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_case_says_what_must_come_of_it(folder: Path) -> None:
    case = cases.read_case(folder)
    assert case.outcome in OUTCOMES
    assert set(case.fails) <= WORLDS
    assert case.what.strip()
    for pattern in (*case.idiom, *case.never):
        re.compile(pattern)
    for place in case.places:
        for text in place:
            path, line = places.line_of(folder, text)
            assert (folder / path).is_file(), text
            assert line > 0
    if case.outcome == "repaired":
        assert case.places, "a case that is repaired says where"
    for file in folder.glob("*.py"):
        compile(file.read_bytes(), file.name, "exec")


def test_a_third_of_at_least_eighty_cases_are_traps() -> None:
    every = [cases.read_case(folder) for folder in FOLDERS]
    assert len(every) >= 80
    assert sum(case.trap for case in every) >= len(every) // 3


def test_an_edit_stands_at_the_lines_that_it_changes() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -3,4 +3,5 @@\n a\n-b\n+B\n c\n+new\n d\n"
    assert places.changes(diff) == [("x.py", frozenset({4})), ("x.py", frozenset({5, 6}))]


def row(demands: str = "yes", copies: str = "2 → 3", edits: str = "1") -> list[str]:
    return ["name", "yes", "repaired", demands, "pack/rule", "1 0 2 2'", copies, edits, "1.0"]


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (row("no: place"), "falls short in place"),
        (row(copies="2 → 4"), "copies 2 → 3 before, 2 → 4 now"),
        (row(edits="2"), "1 edits before, 2 now"),
        (["name", "no", *row()[2:]], "not reproduced any more"),
    ],
)
def test_a_row_that_gets_worse_is_told(now: list[str], why: str) -> None:
    assert corpus.worse_than(row(), now) == [why]


def test_a_row_that_gets_better_or_slower_is_fine() -> None:
    assert corpus.worse_than(row("no: place"), row(copies="2 → 2")) == []
    assert corpus.worse_than(row(), [*row()[:-1], "9.0"]) == []


def test_a_new_case_must_be_right() -> None:
    assert corpus.worse_than(None, row()) == []
    assert corpus.worse_than(None, row("no: idiom"))
