"""Names are read by a file's own imports, and imports and constants are written where its own stand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import main, meeting

from devfix.model import Frame, SourceLocation
from devfix.sdk import calls, imported_name, with_constant
from devfix.sdk.fixes.device_source import pin_where_assigned
from devfix.source import Sources


@pytest.mark.parametrize(
    ("source", "name", "written"),
    [
        ("import torch as t\n", "torch.device", "t.device"),
        ("from . import nets\nfrom .torch import device\nimport torch\n", "torch.device", "torch.device"),
        ("from .torch import device\n", "torch.device", ""),
        ("import torch\nfrom torch import device as chosen_device\n", "torch.device", "torch.device"),
        ("from torch import device as d\nimport torch\n", "torch.device", "d"),
        ("import torch.nn\n", "torch.device", ""),
        ("from torch import *\n", "torch.device", ""),
        ("def f():\n    import torch\n", "torch.device", ""),
    ],
)
def test_a_name_is_written_as_the_imports_let_it(source: str, name: str, written: str) -> None:
    assert imported_name(main(source), name) == written


def test_calls_are_found_by_what_they_mean() -> None:
    file = main("import torch\nfrom torch import load as read\ntorch.jit.load(p)\nread(p)\nself.load(p)\n")
    found = [file.code(each) for each in calls(file, "torch.load", "torch.jit.load")]
    assert found == ["torch.jit.load(p)", "read(p)"]
    assert [file.code(each) for each in calls(file, "torch.jit.load")] == ["torch.jit.load(p)"]
    assert [file.code(each) for each in calls(file, "torch.load", within=file.module.body[2])] == []


OWN = """
from lib import t as u
def t(x): ...
def open(path): ...
class Net:
    @staticmethod
    def make(): ...
t(1), u(2), open(3), Net.make(), Net()
def f(t):
    t(4)
    def inner(): ...
    inner(t(5))
other = t
other(6)
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("t", ["t(1)"]),
        ("lib.t", ["u(2)"]),
        ("open", []),
        ("Net", ["Net()"]),
        ("Net.make", ["Net.make()"]),
        ("inner", ["inner(t(5))"]),
        ("other", []),
    ],
)
def test_calls_of_what_the_file_itself_defines_are_found(name: str, found: list[str]) -> None:
    file = main(OWN)
    assert [file.code(each) for each in calls(file, name)] == found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "d = 0\nx = 1\n"),
        ("import a\n\nx = 1\nimport b\ny = 2\n", "import a\n\nx = 1\nimport b\n\nd = 0\ny = 2\n"),
        ("import a\r\nx = 1\r\n", "import a\r\n\r\nd = 0\r\nx = 1\r\n"),
    ],
)
def test_a_constant_stands_behind_the_imports(before: str, after: str) -> None:
    assert with_constant(main(before), "d = 0").bytes.decode() == after


def test_a_device_is_pinned_in_each_file_that_assigns_it() -> None:
    diagnosis, _ = meeting("y = x + mask\n", "x + mask", function="<module>")
    frames = (*(Frame(SourceLocation(name, 1, owned=True)) for name in ("a.py", "b.py")), *diagnosis.failure.frames)
    diagnosis = replace(diagnosis, failure=replace(diagnosis.failure, frames=frames))
    files = {
        "main.py": b"y = x + mask\n",
        "a.py": b"import torch\nself.device = 'cuda'\n",
        "b.py": b"from torch import empty\nself.device = pick()\n",
    }
    made = list(pin_where_assigned(diagnosis, Sources(files.get), "self.device"))
    assert {each.edits[0].path: each.edits[0].after for each in made} == {
        "a.py": b"import torch\nself.device = torch.empty(0, device='cuda').device\n",
        "b.py": b"from torch import empty\nself.device = empty(0, device=pick()).device\n",
    }
    assert {each.safety for each in made} == {"likely"}
