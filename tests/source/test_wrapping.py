"""Lines that an edit has made too long are split as formatters do, and nothing else is."""

from __future__ import annotations

import pytest

from devfix.source import File
from devfix.source.edits.expressions import expression
from devfix.source.wrapping import LIMIT, wrap_long_lines

CALL = (
    "torch.multinomial((weights * (self.labels == label)).to(self.generator.device), number, generator=self.generator)"
)
LONG = f"        chosen = [{CALL}.to(weights.device) for label in self.labels_in_use]\n"
WRAPPED = """\
        chosen = [
            torch.multinomial(
                (weights * (self.labels == label)).to(self.generator.device), number, generator=self.generator
            ).to(weights.device)
            for label in self.labels_in_use
        ]
"""
HEAD = "class Sampler:\n    def draw(self, weights, number):\n"


def test_the_clauses_of_a_comprehension_and_the_arguments_of_a_call() -> None:
    assert len(LONG) > LIMIT
    assert wrap_long_lines(HEAD.encode(), (HEAD + LONG).encode()).decode() == HEAD + WRAPPED


def test_lines_end_as_those_of_the_file_do() -> None:
    made = wrap_long_lines(HEAD.encode(), (HEAD + LONG).replace("\n", "\r\n").encode())
    assert made.decode() == (HEAD + WRAPPED).replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("before", "line"),
    [
        (HEAD + LONG, LONG),  # the file has lines that long
        (HEAD, LONG.replace("]\n", "]  # drawn by class\n")),
        (HEAD, f'        return """{"a" * LIMIT}\n(a, b)"""\n'),
        (HEAD, f"        return {'a' * LIMIT}(a)\n"),
        (HEAD, LONG.replace("]\n", "]; count(chosen)\n")),
    ],
)
def test_a_line_that_stays_as_it_is(before: str, line: str) -> None:
    assert wrap_long_lines(before.encode(), (HEAD + line).encode()).decode() == HEAD + line


def test_an_edit_of_a_file_wraps_what_it_writes() -> None:
    file = File("sampler.py", (HEAD + "        chosen = []\n").encode())
    edit = file.edit(
        file.module.deep_replace(file.find(file.module, "[]")[0], expression(LONG.partition("= ")[2].strip()))
    )
    assert edit is not None and edit.after.decode() == HEAD + WRAPPED
