"""The programs of tests/hostile, whose obvious patch is wrong, can be run; `make hostile` repairs them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import hostile  # noqa: E402

FILES = sorted((ROOT / "tests" / "hostile").glob("*.programs"))
PROGRAMS = [program for path in FILES for program in hostile.read_programs(path.read_text(encoding="utf-8"))]


def test_there_are_at_least_thirty_with_names_of_their_own() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) >= 30


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_is_whole(program: hostile.Program) -> None:
    assert "main.py" in program.files
    for path, text in program.files.items():
        compile(text, path, "exec", dont_inherit=True)
    for command in (program.run, *program.others):
        named = [word for word in command.split() if word.endswith(".py")]
        assert all(word in program.files for word in named), command


def test_a_program_is_read_section_by_section() -> None:
    head = "##### one\n#### main.py\nx = 1\n#### OTHER python b.py\n#### NEVER half\n#### OPT --gpus 2\n"
    text = head + "##### two\n#### RUN python a.py\n#### a.py\n"
    one, two = hostile.read_programs(text)
    assert (one.name, one.files, one.others, one.never, one.gpus) == (
        "one",
        {"main.py": "x = 1\n"},
        ["python b.py"],
        ["half"],
        2,
    )
    assert (two.run, two.files) == ("python a.py", {"a.py": ""})
