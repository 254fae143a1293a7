"""Files that jupytext keeps in step."""

import pytest
from notebooks import notebook

from devfix.model import Edit
from devfix.notebooks.notebook import Notebook
from devfix.notebooks.pairs import partner
from devfix.notes import Notes
from devfix.source.pairs import with_pairs

SCRIPT = b"""# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
# ---

# %%
# %matplotlib inline
x = 1

# %% [markdown]
# Text

# %%
y = 2
"""
BOOK = Notebook(notebook("%matplotlib inline\nx = 1", "# markdown", "y = 2")).script
FILES = {"nb.py": SCRIPT, "nb.ipynb": BOOK}


def paired(files: dict[str, bytes], path: str, old: bytes, new: bytes) -> tuple[dict[str, bytes], Notes]:
    edit, notes = Edit(path, 1, files[path], files[path].replace(old, new)), Notes()
    search = lambda texts: [name for name, data in files.items() if any(text.encode() in data for text in texts)]  # noqa: E731
    return {each.path: each.after for each in with_pairs((edit,), files.get, search, notes)}, notes


def test_an_edit_of_a_notebook_changes_its_script() -> None:
    assert paired(FILES, "nb.ipynb", b"x = 1", b"x = 5\nz = x")[0] == {
        "nb.ipynb": BOOK.replace(b"x = 1", b"x = 5\nz = x"),
        "nb.py": SCRIPT.replace(b"x = 1", b"x = 5\nz = x"),
    }


def test_an_edit_of_the_script_changes_its_notebook() -> None:
    changed, _ = paired(FILES, "nb.py", b"y = 2", b"y = 7")
    assert changed["nb.ipynb"] == BOOK.replace(b"y = 2", b"y = 7")


def test_a_script_in_other_words_is_left_alone_with_a_note() -> None:
    files = {**FILES, "nb.py": SCRIPT.replace(b"x = 1", b"x = 3")}
    changed, notes = paired(files, "nb.ipynb", b"x = 1", b"x = 5")
    assert list(changed) == ["nb.ipynb"] and "nb.py, paired with nb.ipynb" in "".join(notes)


def test_files_without_formats_are_no_pair() -> None:
    files = {**FILES, "nb.py": SCRIPT.replace(b"formats:", b"other:")}
    assert list(paired(files, "nb.ipynb", b"x = 1", b"x = 5")[0]) == ["nb.ipynb"]


def test_jupytext_toml_names_pairs() -> None:
    files = {
        "jupytext.toml": b'[formats]\n"notebooks/" = "ipynb"\n"scripts/" = "py:percent"\n',
        "notebooks/a/nb.ipynb": BOOK,
        "scripts/a/nb.py": b"# %%\nx = 1\n\n# %%\ny = 2\n",
    }
    assert list(paired(files, "notebooks/a/nb.ipynb", b"y = 2", b"y = 7")[0]) == list(files)[1:]


@pytest.mark.parametrize(
    ("path", "formats", "other"),
    [
        ("a.ipynb", "ipynb,auto:percent", ""),
        ("a.ipynb", "ipynb,.py:light", "a.py"),
        ("d/a.ipynb", "ipynb,py:percent", "d/a.py"),
        ("d/a.ipynb", "ipynb,scripts//py:percent", "d/scripts/a.py"),
        ("scripts/a.py", "notebooks//ipynb,scripts//py:percent", "notebooks/a.ipynb"),
        ("other/a.py", "notebooks//ipynb,scripts//py:percent", ""),
    ],
)
def test_partners(path: str, formats: str, other: str) -> None:
    assert partner(path, formats) == other
