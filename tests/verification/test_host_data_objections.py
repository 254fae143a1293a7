"""What speaks against moving what is elsewhere for a reason: rows moved in parts, items of a loader, placed parts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from objection_cases import strengths
from sample_report import failure

from devfix.model import Frame, SourceLocation

PARTS = "import torch\n\nrows = torch.ones(8, 2)\nfor {target} in {rows}:\n    {move}\n"


@pytest.mark.parametrize(
    ("target", "rows", "move", "expected"),
    [
        ("row", "rows.split(2)", "row = row.to(device)", ["weak"]),
        ("row", "rows", "a, b = row.to(device).unbind(0)", ["weak"]),
        ("i, row", "enumerate(rows)", "use(i, row.cuda())", ["weak"]),
        ("row", "others", "row = row.to(device)", []),
        ("row", "rows", "use(row)", []),
        ("row", "rows", "use(row, model.to(device))", []),
    ],
)
def test_data_of_which_a_loop_moves_a_part_at_a_time(target: str, rows: str, move: str, expected: list[str]) -> None:
    text, change = PARTS.format(target=target, rows=rows, move=move), ("ones(8, 2)", "ones(8, 2, device=device)")
    assert strengths(text, change) == expected
    head, _, rest = text.partition("rows =")
    inside = f"{head}def f(device):\n    rows ={rest}".replace("\nfor", "\n    for").replace(
        "\n    " + move, "\n        " + move
    )
    assert strengths(inside, change) == expected


ROWS = """import torch

class Rows({base}):
    def {method}(self, i):
        return torch.ones(2)
"""


@pytest.mark.parametrize(
    ("base", "method", "change", "expected"),
    [
        ("torch.utils.data.Dataset", "__getitem__", ("ones(2)", "ones(2, device=self.x.device)"), ["strong"]),
        ("IterableDataset", "__iter__", ("ones(2)", "ones(2).to(self.device)"), ["strong"]),
        ("Dataset", "__getitem__", ("ones(2)", "ones(2).cuda()"), ["strong"]),
        ("Dataset", "__getitem__", ("ones(2)", "ones(2, device='cpu')"), []),
        ("Dataset", "__getitem__", ("ones(2)", "ones(2).to('cpu')"), []),
        ("Dataset", "double", ("ones(2)", "ones(2).cuda()"), []),
        ("Bank", "__getitem__", ("ones(2)", "ones(2).cuda()"), []),
    ],
)
def test_items_of_a_data_set(base: str, method: str, change: tuple[str, str], expected: list[str]) -> None:
    text = ROWS.format(base=base, method=method)
    assert strengths(text, change) == expected
    place = SourceLocation("net.py", 5, f"Rows.{method}", owned=True)
    failed = replace(failure(), frames=(Frame(place),))
    assert strengths(text, change, failed=failed) == ["weak"] * len(expected)


def test_items_of_which_others_are_placed_already() -> None:
    text = ROWS.format(base="Dataset", method="__getitem__").replace("ones(2)", "ones(2), self.x[i].to(self.device)")
    change = ("ones(2)", "ones(2, device=self.device)")
    assert strengths(text, change) == []
    assert strengths(text.replace("self.device)", "torch.long)"), change) == ["strong"]
    assert strengths(text.replace(".to(self.device)", ".cpu()"), change) == ["strong"]


PLACED = """import torch

class Net(torch.nn.Module):
    def __init__(self, device, table_device, devices):
        super().__init__()
        self.head = torch.nn.Linear(4, 4).to(device)
        {part}

    def forward(self, x):
        return self.head(self.table(x))

def run(y):
    net = Net()
    return net(y)
"""
WHOLE = ("    return net(y)", "    net.to(y.device)\n    return net(y)")


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("self.table = Table().to(table_device)", ["strong"]),
        ("self.table.to('cpu')", ["strong"]),
        ("self.rest = [torch.nn.Linear(4, 4).to(each) for each in devices]", ["strong"]),
        ("self.table = Table().to(self.device)", []),
        ("self.table = Table().to(torch.float16)", []),
        ("table = Table().to(table_device)", []),
        ("pass", []),
    ],
)
def test_parts_that_a_constructor_places(part: str, expected: list[str]) -> None:
    text, other = PLACED.format(part=part), {"run.py": "from net import Net\n"}
    assert strengths(text, WHOLE, other) == expected
    assert strengths(text, ("net = Net()", "net = Net().to(y.device)"), other) == expected


def test_a_part_that_its_constructor_places() -> None:
    text = PLACED.format(part="self.table = Table().to(table_device)")
    line = "        return self.head(self.table(x))"
    for name, expected in (("table", ["strong"]), ("other", [])):
        assert strengths(text, (line, f"        self.{name}.to(x.device)\n{line}")) == expected
    assert strengths(text, ("self.table(x)", "self.table(x.to(y.device))")) == []
