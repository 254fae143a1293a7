"""Notebooks as scripts, and scripts back in notebooks, byte for byte."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notebooks import notebook

from devfix.notebooks.magics import join_commands, mask_cell
from devfix.notebooks.notebook import Notebook, cell_source, changed_cells, line_in_cell, settle_cells, with_cell
from devfix.notebooks.reading import NotebookError

TWO = notebook("# markdown", "import torch\n\nx = 1", "# markdown", "y = x + 1\ny")


def test_the_script_has_each_code_cell_behind_a_separator() -> None:
    assert Notebook(TWO).script == b"# %% [cell 2]\nimport torch\n\nx = 1\n# %% [cell 4]\ny = x + 1\ny\n"


def test_a_line_of_the_script_is_one_of_a_cell() -> None:
    place = Notebook(TWO).place(6)
    assert place is not None and (place.cell, 6 - place.start) == (4, 1)
    assert line_in_cell("a.ipynb", 4, Notebook(TWO).script) == "a.ipynb[cell 2]:3"
    assert line_in_cell("a.ipynb", 6, Notebook(TWO).script) == "a.ipynb[cell 4]:1"


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_an_edit_changes_the_json_of_its_line_alone(indent: int | None, ascii_only: bool) -> None:
    data = notebook("# markdown é", "a = 'ü'\nb = 2\nc = 'ü'", indent=indent, ascii_only=ascii_only)
    made = Notebook(data)
    after = made.replace_script(made.script.replace(b"b = 2", "b = 'ß'\nnew = 1".encode()))
    written = ("\\u00df" if ascii_only else "ß").encode()
    between = b",\n    " if indent == 1 else b",\n" + b" " * 16 if indent == 4 else b", "
    assert after == data.replace(b'"b = 2\\n"', b"\"b = '" + written + b"'\\n\"" + between + b'"new = 1\\n"')


def test_a_source_that_is_one_string_stays_one() -> None:
    data = b'{"nbformat": 4, "cells":[{"cell_type":"code","source":"a = 1\\nb\\u0020= 2\\nc = \'\\\\n\'"}]  }'
    made = Notebook(data)
    assert made.script == b"# %% [cell 1]\na = 1\nb = 2\nc = '\\n'\n"
    assert made.replace_script(made.script.replace(b"a = 1", b"a = 5")) == data.replace(b"a = 1", b"a = 5")


LINES = st.lists(st.sampled_from(["x = 1", "", "y = 'é'", "z = '\\n'", "# \u2028", "%time x", "!ls"]), max_size=6)


@settings(deadline=None, max_examples=40)
@given(st.lists(LINES, min_size=1, max_size=4), st.sampled_from([None, 1, 2]), st.booleans(), st.data())
def test_every_other_byte_stays(
    cells: list[list[str]], indent: int | None, ascii_only: bool, data: st.DataObject
) -> None:
    texts = ["\n".join(["x = 0", *lines]) for lines in cells]
    before = notebook(*texts, indent=indent, ascii_only=ascii_only)
    made = Notebook(before)
    assert made.replace_script(made.script) == before
    at = data.draw(st.integers(0, len(texts) - 1))
    after = with_cell(before, at + 1, cell_source(before, at + 1) + b"new = 1\n")
    expected = json.loads(before)
    source = "".join(expected["cells"][at]["source"])
    assert "".join(json.loads(after)["cells"][at]["source"]) == f"{source}\nnew = 1"
    expected["cells"][at]["source"] = json.loads(after)["cells"][at]["source"]
    assert json.loads(after) == expected


def test_magics_are_masked_line_by_line() -> None:
    text = "%matplotlib inline\nx = [1,\n % 2]\nif x:\n    !ls \\\n      -l\ns = '''\n%not\n'''\nfiles = !ls\nlen?"
    assert mask_cell(text).split("\n") == [
        "#  # [IPython] " + line for line in text.split("\n")
    ]  # `[1,\n % 2]` is none
    lines = mask_cell(text.replace("[1,\n % 2]", "(1\n % 2)")).split("\n")
    assert [lines[at] for at in (0, 2, 4, 5, 7, 9, 10)] == [
        "pass  # [IPython] %matplotlib inline",
        " % 2)",
        "    pass  # [IPython] !ls \\",
        "#  # [IPython]       -l",
        "%not",
        "files = None  # [IPython] files = !ls",
        "pass  # [IPython] len?",
    ]


def test_cell_magics_of_other_languages_are_masked_whole() -> None:
    assert mask_cell("%%bash\nls").split("\n") == ["#  # [IPython] %%bash", "#  # [IPython] ls"]
    assert mask_cell("%%time\nx = 1").split("\n") == ["#  # [IPython] %%time", "x = 1"]


def test_continued_commands_keep_the_lines_below_in_place() -> None:
    assert join_commands(["!ls \\\n", "  -l\n", "x = 1"]) == ["!ls    -l\n", "\n", "x = 1"]


def test_a_statement_above_a_cell_goes_below_a_cell_that_is_not_python() -> None:
    script = Notebook(notebook("%%bash\nls", "x = 1")).script
    put = script.replace(b"# %% [cell 2]\n", b"import torch\n# %% [cell 2]\n")
    assert settle_cells(script, put) == script.replace(b"x = 1", b"import torch\nx = 1")


@pytest.mark.parametrize("wrong", [b"# %% [cell 2]\n", b"pass  # [IPython] %time f()\n"])
def test_an_edit_that_no_notebook_can_have_is_refused(wrong: bytes) -> None:
    script = Notebook(notebook("%time f()\nx = 1", "y = 2")).script
    with pytest.raises(NotebookError):
        settle_cells(script, script.replace(wrong, b""))


def test_changed_cells_are_as_the_notebook_has_them() -> None:
    script = Notebook(notebook("!ls\nx = 1", "y = 2")).script
    assert list(changed_cells(script, script.replace(b"x = 1", b"x = 5"))) == [(1, b"!ls\nx = 1\n", b"!ls\nx = 5\n")]


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"worksheets": []}', b'{"cells": 3}', b"\xff", b'{"cells": [{"cell_type"']
)
def test_what_is_no_notebook_says_why(data: bytes) -> None:
    with pytest.raises(NotebookError, match=r"it is no|it is not"):
        _ = Notebook(data).script


def test_a_published_diff_is_applied_to_its_cell() -> None:
    data = notebook("!ls\nx = 1", "y = 2", ascii_only=True)
    assert cell_source(data, 1) == b"!ls\nx = 1\n"
    assert with_cell(data, 1, b"!ls\nx = 5\n") == data.replace(b"x = 1", b"x = 5")
    with pytest.raises(NotebookError, match="no code in cell 7"):
        cell_source(data, 7)
