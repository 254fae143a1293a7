"""Locations and tracebacks of notebooks, as a trace has them and as they are shown."""

from pathlib import Path

from notebooks import notebook

from devfix.model import SourceLocation
from devfix.trace.locations import Locations, named_cells

TRACEBACK = """Traceback (most recent call last):
  File "/env/site-packages/ipykernel/kernelbase.py", line 3, in run
    await it
  File "{0}/nb.ipynb", line 6, in <module>
    f(1)
  File "/env/site-packages/torch/nn.py", line 9, in f
RuntimeError: wrong
"""


def locations(folder: Path, tracked: frozenset[str] | None = None) -> Locations:
    (folder / "nb.ipynb").write_bytes(notebook("# markdown", "import torch\n\nx = 1", "f(x)"))
    return Locations(folder, tracked)


def test_a_location_in_a_notebook_has_its_cell(tmp_path: Path) -> None:
    place = locations(tmp_path).relocate(SourceLocation(str(tmp_path / "nb.ipynb"), 6))
    assert (place.path, place.line, place.shown) == ("nb.ipynb", 6, "nb.ipynb[cell 3]:1")


def test_what_a_trace_says_about_cells_is_not_believed(tmp_path: Path) -> None:
    place = SourceLocation(str(tmp_path / "a.py"), 6, cell=3, cell_start=2)
    assert locations(tmp_path).relocate(place).shown == "a.py:6"


def test_a_traceback_begins_in_the_notebook(tmp_path: Path) -> None:
    shown = named_cells(TRACEBACK.format(tmp_path), locations(tmp_path))
    assert shown.splitlines()[1] == f'  File "{tmp_path}/nb.ipynb[cell 3]", line 1, in <module>'
    assert "ipykernel" not in shown and "torch/nn.py" in shown


def test_a_notebook_that_is_gone_or_broken_keeps_its_lines(tmp_path: Path) -> None:
    (tmp_path / "broken.ipynb").write_bytes(b"{")
    for name in ("broken.ipynb", "gone.ipynb"):
        place = Locations(tmp_path, frozenset({name})).relocate(SourceLocation(str(tmp_path / name), 6))
        assert place.owned and place.shown == f"{name}:6"
