"""The module that a tensor belongs to: how much of it lies misplaced, where it was made, and a move of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst
import pytest
from mismatch_factory import after, meeting, place, tensor, use_site

from devfix.model import Diagnosis, Event, Failure, ModuleOwner, ScopeVariable, SourceLocation
from devfix.sdk import Sources
from devfix.sdk.fixes.modules import (
    construction_sites,
    is_never_moved,
    largest_misplaced_module,
    move_module_before,
    root_modules,
    variable_in_frame,
)

CODE = "def f(x, model):\n    return model(x)\n"


def module(expression: str, device: str = "cpu", **fields: object) -> ScopeVariable:
    return ScopeVariable(expression, "module", device, **fields)  # type: ignore[arg-type]


def owned(
    expression: str, scope: Sequence[ScopeVariable], root: str = "model", kind: str = "parameter", frame: int = 0
) -> Failure:
    """A failure whose second operand `model.….weight` is held by a module."""
    diagnosis, _ = meeting(CODE, "model(x)", "model.weight", scope=scope)
    first, wrong = diagnosis.failure.operands
    owner = ModuleOwner(expression, frame, "Linear", "weight", kind, root)
    return replace(diagnosis.failure, operands=(first, replace(wrong, holders=(owner,))))


def test_what_a_frame_knows_of_an_expression() -> None:
    failure = owned("model", [module("model")])
    assert variable_in_frame(failure, 0, "model") == module("model")
    for frame, expression in ((0, "other"), (1, "model"), (7, "model"), (-1, "model")):
        assert variable_in_frame(failure, frame, expression) is None


@pytest.mark.parametrize(
    ("kind", "scope", "found"),
    [
        ("parameter", ["model"], True),
        ("buffer", ["model"], True),
        ("attribute", ["model"], False),
        ("parameter", ["other"], False),
    ],
)
def test_a_root_registers_the_operand_and_is_known(kind: str, scope: list[str], found: bool) -> None:
    failure = owned("model.head", [module(each) for each in scope], kind=kind)
    expected = [(failure.operands[1].holders[0], module("model"))] if found else []
    assert root_modules(failure, failure.operands[1]) == expected


@pytest.mark.parametrize(
    ("expression", "modules", "expected"),
    [
        ("model", {"model": "cpu"}, "model"),
        ("model", {"model": "mixed"}, None),
        ("model.head.norm", {"model": "mixed", "model.head": "cpu", "model.head.norm": "cpu"}, "model.head"),
        ("model.head.norm", {"model": "mixed", "model.head": "mixed", "model.head.norm": "cpu"}, "model.head.norm"),
        ("model.layers[0]", {"model": "mixed", "model.layers": "cpu", "model.layers[0]": "cpu"}, "model.layers"),
        ("model.layers[0]", {"model": "cuda:0", "model.layers[0]": "cpu"}, "model.layers[0]"),
        # A module is no part of another because its name begins alike.
        ("model.head_norm", {"model": "mixed", "model.head": "cpu", "model.head_norm": "cpu"}, "model.head_norm"),
    ],
)
def test_the_largest_misplaced_module(expression: str, modules: dict[str, str], expected: str | None) -> None:
    failure = owned(expression, [module(*each) for each in modules.items()])
    found = largest_misplaced_module(failure, failure.operands[1])
    assert (found.expression if found is not None else None) == expected


def test_no_tensor_is_a_misplaced_module() -> None:
    failure = owned("model", [replace(module("model"), kind="object")])
    assert largest_misplaced_module(failure, failure.operands[1]) is None


def made_at(*places: SourceLocation, kind: str = "made") -> ScopeVariable:
    return module("model", history=(Event(kind, "Net", "cpu", places),))


def test_where_a_module_was_made() -> None:
    code = "class Net(Base):\n    def __init__(self):\n        super().__init__(3)\nmodel = build(Net())\n"
    calls = [place(code, text, "<module>") for text in ("super().__init__(3)", "Net()", "build(Net())")]
    diagnosis, source = meeting(code, "build(Net())", function="<module>")
    failure = diagnosis.failure
    found = list(construction_sites(failure, made_at(*calls, replace(calls[1], path="lost.py")), source))
    assert [(each.kind, each.place) for each in found] == [("construction", calls[1]), ("construction", calls[2])]
    assert found[0].scope == failure.frames[0].scope
    assert list(construction_sites(failure, made_at(calls[1], kind="class"), source)) == []
    assert list(construction_sites(failure, module("model"), source)) == []
    assert list(construction_sites(failure, made_at(replace(calls[1], owned=False)), source)) == []


def moved(code: str, failing: str, scope: Sequence[ScopeVariable] = (), device: str = "") -> list[str]:
    diagnosis, source = meeting(code, failing, "model.weight", scope=scope, device=device)
    return moves(diagnosis, source)


def moves(diagnosis: Diagnosis, source: Sources) -> list[str]:
    return [after(each) for each in move_module_before(diagnosis, use_site(diagnosis), source, "model")]


def test_a_module_is_moved_in_front_of_where_it_is_used() -> None:
    assert moved(CODE, "model(x)") == [CODE.replace("    return", "    model.to(x.device)\n    return")]
    assert moved(CODE, "model(x)", device="cpu")[0] == CODE.replace("    return", "    model.cpu()\n    return")


def test_once_for_all_turns_of_a_loop_where_its_device_is_known_before() -> None:
    code = "def f(xs, x, model):\n    for y in xs:\n        model(x, y)\n"
    assert moved(code, "model(x, y)") == [code.replace("    for", "    model.to(x.device)\n    for")]
    code = "def f(xs, model):\n    for x in xs:\n        model(x)\n"
    assert moved(code, "model(x)") == [code.replace("        model", "        model.to(x.device)\n        model")]


@pytest.mark.parametrize(
    ("scope", "anchors"),
    [
        ([ScopeVariable("model.device", "device", "cuda:0"), tensor("y", "cuda:0")], ["y.device"]),
        ([tensor("model.weight", "cuda:0", type="torch.nn.Parameter")], []),
        ([module("model", "cuda:0")], []),
    ],
)
def test_a_module_says_nothing_of_where_it_should_be(scope: list[ScopeVariable], anchors: list[str]) -> None:
    code = "def f(model, y):\n    return model(y)\n"
    diagnosis, source = meeting(code, "model(y)", "model.weight")
    frame = replace(diagnosis.failure.frames[0], scope=tuple(scope))
    diagnosis = replace(diagnosis, failure=replace(diagnosis.failure, frames=(frame,)))
    assert moves(diagnosis, source) == [code.replace("    ret", f"    model.to({each})\n    ret") for each in anchors]


@pytest.mark.parametrize("change", [{"owned": False}, {"path": "lost.py"}, {"line": 40, "end_line": 40}])
def test_nothing_where_the_file_or_its_line_is_not_there(change: dict[str, object]) -> None:
    diagnosis, source = meeting(CODE, "model(x)")
    site = use_site(diagnosis)
    site = replace(site, place=replace(site.place, **change))  # type: ignore[arg-type]
    assert list(move_module_before(diagnosis, site, source, "model")) == []


def test_the_variable_of_a_comprehension_is_moved_where_it_is_called() -> None:
    code = "def f(x, models):\n    return [model(x) for model in models]\n"
    assert moved(code, "model(x)") == [code.replace("model(x)", "model.to(x.device)(x)")]


def test_nothing_in_a_suite_on_one_line() -> None:
    assert moved("def f(x, model):\n    if model: model(x)\n", "model(x)") == []


MADE, MOVED = (Event("made", "made", "", (place(CODE, "model(x)"),)), Event("move", "torch.nn.Module.to", "cuda:0"))


@pytest.mark.parametrize(
    ("scope", "moves", "expected"),
    [
        ([module("loss", "", history=(MADE,))], "", True),
        ([module("self", "", history=(MADE,))], "", False),  # nothing says who holds it
        ([module("trainer.loss", "", history=(MADE,))], "net.to(device)", True),
        ([module("trainer.loss", "", history=(MADE,))], "self.loss.to(device)", False),
        ([module("loss", "", type="Loss", history=(MADE,))], "Loss().to(device)", False),
        ([module("net"), module("net[1]", "", history=(MADE,))], "", False),
        ([module("net"), module("net.loss", "", history=(MADE,))], "", False),
        ([module("network"), module("net", "", history=(MADE,))], "", True),
        ([module("loss", "", history=(MADE, MOVED))], "", False),
    ],
)
def test_a_module_was_never_moved(scope: list[ScopeVariable], moves: str, expected: bool) -> None:
    failure = meeting(CODE, "model(x)", scope=scope)[0].failure
    calls = [cst.ensure_type(cst.parse_expression(moves), cst.Call)] if moves else []
    assert is_never_moved(failure, scope[-1], calls) is expected
