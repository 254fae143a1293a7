"""The calls on the stack of a failure, and how their arguments are made again; by real programs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from probe_programs import run_program

from devfix.execution.prefork import PreforkServer
from devfix.model import Call, Recipe
from devfix.trace.recipes import Recipes

PROGRAM = """
import enum
from dataclasses import dataclass
import torch
from torch import nn

class Mode(enum.Enum):
    SUM = 1

@dataclass
class Config:
    width: int = 16
    heads: int = 2

class Block(nn.Module):
    def __init__(self, config, act=nn.GELU(), *, drop=0.0):
        super().__init__()
        self.inner = nn.Linear(config.width, config.width)
        self.act = act
    def forward(self, x, mode=Mode.SUM, *more, **rest):
        return self.mixed(x, [1.5, "a"], scale=float("inf"))
    def mixed(self, x, parts, *, scale, flags=None):
        return self.act(self.inner(x)) + torch.arange(x.shape[-1]) * (1 / scale)

def start(block, path, ids, few):
    return block(ids.float(), Mode.SUM, few, other={"k": (1, None)})


ids = torch.randint(3, 90, (5, 4), device="cuda")
block = Block(Config(width=4), nn.ReLU(), drop=0.5).to("cuda").eval()
start(block, "/etc/hosts", ids, torch.tensor([7, 1]))
"""


@pytest.fixture
def calls(tmp_path: Path, warm: PreforkServer) -> list[dict[str, Any]]:
    ran = run_program(tmp_path, PROGRAM, warm=warm, calls=True)
    assert ran.trace["internal_errors"] == []
    return list(ran.failure["calls"])


def read(raw: dict[str, Any]) -> Call:
    return Recipes(raw["root"] + "/").call(msgspec.convert(raw, Call))


@pytest.mark.slow
def test_each_owned_call_is_told_innermost_first(calls: list[dict[str, Any]]) -> None:
    assert [(call["how"], call["function"]) for call in calls] == [
        ("method", "mixed"),
        ("method", "forward"),
        ("function", "start"),
    ]
    assert {call["is_main"] for call in calls} == {True}


@pytest.mark.slow
def test_modules_are_made_as_the_program_made_them(calls: list[dict[str, Any]]) -> None:
    made = read(calls[0]).instance
    assert made is not None
    assert (made.kind, made.text, made.evaluates, made.moves) == ("made", "Block", True, (("", "cuda:0"),))
    config, act = dict(made.keywords)["config"], dict(made.keywords)["act"]
    assert (config.text, [(name, value.text) for name, value in config.keywords]) == ("Config", [("width", "4")])
    assert (act.module, act.text) == ("torch", "nn.ReLU")
    assert "drop" in dict(made.keywords)


def test_arguments_are_told_by_what_matters_of_them(calls: list[dict[str, Any]]) -> None:
    mixed, forward, start = map(read, calls)
    given = {each.name: each for each in mixed.arguments}
    assert (given["x"].value.text, given["x"].value.shape, given["x"].value.device) == ("normal", (5, 4), "cuda:0")
    assert [item.text for item in given["parts"].value.items] == ["1.5", "'a'"]
    assert given["scale"].value.text == 'float("inf")'
    assert given["flags"].is_default
    more = [each for each in forward.arguments if each.how == "more"]
    assert [(each.value.text, each.value.numbers) for each in more] == [("values", "[7, 1]")]
    assert [(each.name, each.value.kind) for each in forward.arguments if each.how == "keyword"] == [("other", "dict")]
    path, ids = ({each.name: each.value for each in start.arguments}[name] for name in ("path", "ids"))
    assert path.kind == "unknown"  # nothing of one machine goes into a test
    low, high = json.loads(ids.numbers)
    assert (ids.text, ids.dtype) == ("integers", "int64")
    assert 3 <= low < high <= 90


@pytest.mark.parametrize(
    "recipe",
    [
        {"kind": "literal", "text": "__import__('os').system('true')"},
        {"kind": "literal", "text": "1)\nimport os"},
        {"kind": "name", "module": "os", "text": "system('true')"},
        {"kind": "tensor", "text": "values", "numbers": "exit()", "dtype": "int64", "shape": [1], "device": "cuda:0"},
        {"kind": "tensor", "text": "zeros", "dtype": "int64", "shape": [1], "device": "cuda:0').x('"},
        {"kind": "made", "module": "m", "text": "C", "keywords": [["a=1)\n", {"kind": "literal", "text": "1"}]]},
        {"kind": "made", "module": "m", "text": "C", "moves": [["a')", "cuda"]]},
    ],
)
def test_what_is_no_name_and_no_literal_never_gets_into_a_test(recipe: dict[str, Any]) -> None:
    assert Recipes("/").recipe(msgspec.convert(recipe, Recipe)).kind == "unknown"


def test_a_call_outside_of_the_repository_is_none() -> None:
    call = Call(0, "m", "/elsewhere", "function", "f")
    with pytest.raises(ValueError):
        Recipes("/here/").call(call)
    assert Recipes("/here/").calls([call, replace(call, root="/here")]) == (replace(call, root=""),)


def test_calls_are_told_only_where_they_are_asked_for(tmp_path: Path, warm: PreforkServer) -> None:
    assert "calls" not in run_program(tmp_path, PROGRAM, warm=warm).failure


def test_what_shows_a_failure_is_no_part_of_what_the_program_computes(tmp_path: Path, warm: PreforkServer) -> None:
    source = """
    import torch
    x = torch.ones(2, device="cuda") - 1
    try:
        x + torch.ones(2)
    except RuntimeError:
        print(x * 3)
        raise
    """
    trace = run_program(tmp_path, source, warm=warm, totals=True).trace
    assert trace["failure"]["uncaught"]
    assert "operator_totals" not in trace["failure"]
    assert [each["op"] for each in trace["operator_totals"]] == ["aten::sub"]


def test_an_optimizer_is_told_by_the_module_that_it_steps(tmp_path: Path, warm: PreforkServer) -> None:
    source = """
    import torch
    def step(model, optimizer, other):
        return model(torch.ones(1, 2))
    model = torch.nn.Linear(2, 2).to("cuda")
    stranger = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), 0.1)
    step(model, torch.optim.Adam(model.parameters(), lr=0.5), stranger)
    """
    call = read(run_program(tmp_path, source, warm=warm, calls=True).failure["calls"][0])
    adam, stranger = call.arguments[1].value, call.arguments[2].value
    assert (adam.module, adam.text, [item.text for item in adam.items]) == ("torch", "optim.Adam", ["model"])
    assert [(name, value.text) for name, value in adam.keywords] == [("lr", "0.5")]
    assert stranger.kind == "unknown"


def test_a_failure_below_a_transform_is_told_without_its_calls(tmp_path: Path, warm: PreforkServer) -> None:
    source = """import torch
def field(x, basis):
    return basis @ x
def jacobian(rows, basis):
    return torch.func.vmap(torch.func.jacfwd(lambda x: field(x, basis)))(rows)
jacobian(torch.ones(2, 3, device="cuda"), torch.eye(3))
"""
    failure = run_program(tmp_path, source, warm=warm, calls=True).failure
    assert failure["op"] == "aten::mm" and "calls" not in failure
