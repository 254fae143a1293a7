"""Which of a failure's operands was put where it is, what it met, and what it is called."""

from __future__ import annotations

from dataclasses import replace

import pytest

from devfix.model import (
    Diagnosis,
    Event,
    Failure,
    Finding,
    Frame,
    ModuleOwner,
    NameRef,
    Operand,
    ScopeVariable,
    SourceLocation,
)
from devfix.sdk import declarations, is_selected_from
from devfix.sdk.trace.operands import (
    creation_location,
    is_intentional,
    misplaced_operands,
    names_in,
    peer_operand,
    target_device,
    was_moved_to,
)

AT = SourceLocation("m.py", 9, "use", 9, 4, 20, owned=True)
OWNED = SourceLocation("m.py", 3, "use", 3, 8, 22, owned=True)
FOREIGN = SourceLocation("/lib/torch/f.py", 3)


def event(kind: str, device: str, *places: SourceLocation) -> Event:
    return Event(kind, f"aten::{kind}", device, places)


HOST = Operand("other", "cpu", shape=(3,), history=(event("factory", "cpu", OWNED),))
GPU = Operand("self", "cuda:0", shape=(3,), history=(event("factory", "cuda:0", OWNED),))
BACK = replace(HOST, history=(*GPU.history, event("move", "cpu", OWNED)))


def diagnosis(*operands: Operand, blames: int = 0, device: str = "") -> Diagnosis:
    failure = Failure("device-mismatch", "RuntimeError", "…", "aten::add", (Frame(AT),), operands)
    return Diagnosis("test/rule", "…", failure, Finding(blames, "…", device=device))


def blamed(*operands: Operand) -> list[str]:
    return [operand.argument for _, operand, _ in misplaced_operands(diagnosis(*operands).failure)]


def test_the_peer_is_the_first_elsewhere_that_has_dimensions() -> None:
    scalar, third = replace(GPU, argument="alpha", shape=()), replace(GPU, argument="third", shape=(1, 2))
    near = replace(HOST, argument="near")
    assert peer_operand(diagnosis(HOST, near, scalar, GPU, third)) == GPU
    assert peer_operand(diagnosis(HOST, near, third, GPU)) == third
    assert peer_operand(diagnosis(HOST, scalar)) == scalar
    assert peer_operand(diagnosis(GPU, scalar, HOST, blames=1)) == HOST
    assert [other for _, _, other in misplaced_operands(diagnosis(HOST, scalar, GPU).failure)] == [GPU]


def test_where_nothing_is_elsewhere_there_is_no_peer() -> None:
    assert peer_operand(diagnosis(HOST)) is None
    assert peer_operand(diagnosis()) is None
    assert list(misplaced_operands(diagnosis(HOST, HOST).failure)) == []


def test_where_the_blamed_operand_should_be() -> None:
    assert target_device(diagnosis(HOST, GPU)) == "cuda:0"
    assert target_device(diagnosis(HOST, GPU, device="cuda:1")) == "cuda:1"
    assert target_device(diagnosis(HOST)) == ""
    assert target_device(diagnosis()) == ""


def test_of_those_that_were_all_placed_one_with_dimensions_on_the_host_comes_first() -> None:
    single, scalar = replace(GPU, shape=(1,)), replace(GPU, argument="alpha", shape=())
    assert blamed(single, BACK) == ["other", "self"]
    assert blamed(scalar, GPU, BACK) == ["other", "self", "alpha"]
    assert blamed(replace(BACK, argument="zero", shape=()), GPU) == ["self", "zero"]


@pytest.mark.parametrize(
    ("said", "expression", "is_declared"),
    [
        ("self.device", "self.mean", True),
        ("self.model.device", "self.model.head.weight", True),
        ("self.model.device", "self.mean", False),
        ("self.device", "selfish.mean", False),
        ("other.device", "self.mean", False),
        ("self.local_rank", "self.mean", False),
        ("device", "mean", False),
    ],
)
def test_an_object_declares_where_what_it_holds_should_be(said: str, expression: str, is_declared: bool) -> None:
    says = ScopeVariable(said, "device", "cpu")
    frames = (Frame(AT, (ScopeVariable("self.mean", "tensor", "cpu"), says)),)
    mean = replace(HOST, names=(NameRef(0, expression),))
    assert declarations(replace(diagnosis(GPU, mean).failure, frames=frames), mean) == ([says] if is_declared else [])
    held = replace(HOST, holders=(ModuleOwner(expression.rpartition(".")[0] or "net", 0, "Net", "mean", "buffer"),))
    assert is_intentional(replace(diagnosis(GPU, held).failure, frames=frames), held) is is_declared


def test_what_is_said_of_a_frame_that_is_not_there_counts_for_nothing() -> None:
    owner = ModuleOwner("self", 1, "Net", "weight", "parameter", "self")
    operand = replace(BACK, names=(NameRef(1, "self.weight"),), owner=owner, holders=(owner,))
    assert declarations(diagnosis(GPU, operand).failure, operand) == []
    assert blamed(GPU, operand) == ["self", "other"]


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ((event("factory", "cpu", OWNED),), OWNED),
        ((event("factory", "cpu", FOREIGN, OWNED),), None),
        ((event("factory", "cpu"),), None),
        ((), None),
    ],
)
def test_where_owned_code_made_a_tensor_itself(history: tuple[Event, ...], expected: SourceLocation | None) -> None:
    assert creation_location(replace(HOST, history=history)) == expected


def test_names_for_the_operand_itself_come_first_and_short_ones() -> None:
    relations = {"a": "source", "cc": "storage", "ddd": "same", "b": "same", "elsewhere": "same", "other": "unknown"}
    names = tuple(NameRef(0 if name != "elsewhere" else 1, name, relation) for name, relation in relations.items())
    assert [each.expression for each in names_in(replace(HOST, names=names), 0)] == ["b", "ddd", "cc", "a", "other"]


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ((event("move", "cuda:0", OWNED),), OWNED),
        ((event("move", "cuda:0", OWNED), event("move", "cpu", AT)), OWNED),
        ((event("move", "cuda:0", AT), event("move", "cuda:1", OWNED)), OWNED),
        ((event("move", "cuda", FOREIGN, OWNED),), OWNED),
        ((event("move", "cuda:0", FOREIGN),), None),
        ((event("op", "cuda:0", OWNED),), None),
        ((event("move", "cpu", OWNED),), None),
    ],
)
def test_where_somebody_moved_it_to_a_gpu(moves: tuple[Event, ...], expected: SourceLocation | None) -> None:
    assert was_moved_to(replace(HOST, history=(*HOST.history, *moves)), "cuda") == expected


@pytest.mark.parametrize(
    "met, expected", [(["indices[0]"], True), (["mask"], True), (["indices[0]", "other"], False), (["other"], False)]
)
def test_data_on_a_gpu_that_only_indices_and_masks_meet_stays(met: list[str], expected: bool) -> None:
    others = tuple(replace(GPU, argument=each, device="cuda:1") for each in met)
    failure = diagnosis(GPU, *others).failure
    assert is_selected_from(failure, GPU) is expected
    assert not is_selected_from(failure, others[0]) or met[0] == "other"
    assert not is_selected_from(diagnosis(replace(GPU, device="cpu"), *others).failure, replace(GPU, device="cpu"))


@pytest.mark.parametrize("op", ["aten::index", "aten::index_put_", "aten::_index_put_impl_"])
def test_an_index_on_the_host_selects_from_any_data(op: str) -> None:
    table, index, values = replace(HOST, argument="self"), replace(HOST, argument="indices[0]"), GPU
    failure = Failure("device-mismatch", "RuntimeError", "…", op, (Frame(AT),), (table, index, values))
    assert [number for number, _, _ in misplaced_operands(failure)] == [0]
    failure = replace(failure, op="aten::index_select")
    assert [number for number, _, _ in misplaced_operands(failure)] == [0, 1]


def test_an_index_that_alone_is_on_the_host_is_what_a_strict_run_reports() -> None:
    index = replace(HOST, argument="indices[0]")
    failure = Failure("device-mismatch", "RuntimeError", "…", "aten::index", (Frame(AT),), (GPU, index))
    assert [number for number, _, _ in misplaced_operands(failure)] == [1]
