"""Who is wrong: by where a tensor was put, what holds it, how it came to be, and what a loop hands out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import libcst as cst

from devfix.model import Event, Failure, Frame, ModuleOwner, NameRef, Operand, ScopeVariable, SourceLocation
from devfix.sdk import (
    File,
    assignments,
    derived_in_frame,
    dominating,
    is_created_where_used,
    is_loop_variable,
    loop_event,
)
from devfix.sdk.fixes.modules import largest_misplaced_module, root_modules
from devfix.sdk.trace.derived import stored_attributes
from devfix.sdk.trace.operands import is_intentional, misplaced_operands

AT = SourceLocation("m.py", 9, "use", 9, 4, 20, owned=True)
CREATED = SourceLocation("m.py", 3, "use", 3, 8, 22, owned=True)
ELSEWHERE = SourceLocation("data.py", 3, "read", 3, 8, 22, owned=True)


def event(kind: str, op: str, device: str, place: SourceLocation = CREATED) -> Event:
    return Event(kind, f"aten::{op}", device, (place,))


def tensor(expression: str, device: str, *history: Event, type: str = "Tensor") -> ScopeVariable:
    return ScopeVariable(expression, "tensor", device, type, history=history)


def failure(
    *operands: Operand, scope: tuple[ScopeVariable, ...] = (), at: SourceLocation = AT, op: str = "aten::add"
) -> Failure:
    return Failure("device-mismatch", "RuntimeError", "…", op, (Frame(at, scope),), operands)


HOST = Operand("other", "cpu", shape=(3,), history=(event("factory", "ones", "cpu"),))
GPU = Operand("self", "cuda:0", shape=(3,), history=(event("factory", "ones", "cuda:0"),))


def blamed(found: Failure) -> list[str]:
    return [operand.argument for _, operand, _ in misplaced_operands(found)]


def test_the_one_that_nobody_placed_is_the_only_misplaced_operand() -> None:
    assert blamed(failure(GPU, HOST)) == ["other"]


def test_a_move_to_the_host_is_meant_and_ties() -> None:
    back = Operand("other", "cpu", shape=(3,), history=(*GPU.history, event("move", "_to_copy", "cpu")))
    assert is_intentional(failure(GPU, back), back)
    assert blamed(failure(GPU, back)) == ["other", "self"]


def test_a_parameter_moved_back_is_the_anchor_of_its_input() -> None:
    owner = ModuleOwner("model", 0, "Linear", "weight", "parameter", "model")
    history = (event("factory", "empty", "cpu"), event("move", "to", "cpu"))
    weight = Operand("other", "cpu", shape=(3,), history=history, owner=owner)
    assert blamed(failure(GPU, weight)) == ["self", "other"]


def test_a_declared_device_keeps_a_tensor_in_its_place() -> None:
    mean = Operand("other", "cpu", shape=(3,), names=(NameRef(0, "self.mean"),), history=HOST.history)
    says = (ScopeVariable("self.device", "device", "cpu"),)
    assert not is_intentional(failure(GPU, mean), mean)
    assert is_intentional(failure(GPU, mean, scope=says), mean)
    assert blamed(failure(GPU, mean, scope=says)) == ["self", "other"]


def gpu(argument: str, number: int, shape: tuple[int, ...], **more: Any) -> Operand:
    moved = event("move", "to", f"cuda:{number}")
    return Operand(argument, f"cuda:{number}", shape=shape, history=(event("factory", "ones", "cpu"), moved), **more)


def test_of_two_on_gpus_the_index_what_is_kept_and_the_smaller_one_follow() -> None:
    data = gpu("self", 1, (3, 4))
    assert blamed(failure(data, gpu("indices[0]", 0, (3, 4, 5)))) == ["indices[0]", "self"]
    assert blamed(failure(data, gpu("other", 0, (3, 4), names=(NameRef(0, "self.best"),)))) == ["other", "self"]
    assert blamed(failure(data, gpu("other", 0, (4,)))) == ["other", "self"]


def test_a_parameter_of_a_module_that_is_spread_over_gpus_is_no_anchor() -> None:
    row = gpu("tensors[1]", 0, (4,), owner=ModuleOwner("self.model", 0, "Model", "newline", "parameter", "self.model"))
    data = gpu("tensors[0]", 1, (3, 4))
    whole, spread = (ScopeVariable("self.model", "module", device) for device in ("cuda:0", "mixed"))
    assert blamed(failure(data, row, scope=(whole,))) == ["tensors[0]", "tensors[1]"]
    assert blamed(failure(data, row, scope=(spread,))) == ["tensors[1]", "tensors[0]"]


def test_what_the_failing_operator_made_for_itself_is_not_misplaced() -> None:
    result = Operand("self", "cpu", shape=(3,), history=(event("factory", "empty", "cpu", AT),))
    vector = Operand("vec", "cpu", shape=(3,), history=HOST.history)
    matrix = Operand("mat", "cuda:0", shape=(3, 3), history=GPU.history)
    assert blamed(failure(result, matrix, vector)) == ["vec"]


def test_created_where_it_is_used_means_made_there_all_the_way() -> None:
    helped = Operand("other", "cpu", history=(*HOST.history, event("op", "mean", "cpu", ELSEWHERE)))
    assert is_created_where_used(failure(GPU, HOST), HOST)
    assert not is_created_where_used(failure(GPU, helped), helped)


def test_a_loop_that_still_runs_hands_a_tensor_out() -> None:
    loop = SourceLocation("m.py", 7, "use", 11, 4, 30, owned=True, loop=True)
    batch = Operand("other", "cpu", history=(*HOST.history, event("op", "stack", "cpu", loop)))
    assert loop_event(failure(GPU, batch), batch) == 1
    assert loop_event(failure(GPU, HOST), HOST) is None


def test_what_an_operand_was_computed_from_is_found_by_its_history() -> None:
    mask = tensor("self.mask", "cpu", *HOST.history)
    other = tensor("self.table", "cpu", event("factory", "zeros", "cpu"))
    scope = (ScopeVariable("self", "module", "cuda:0", "Net"), mask, other)
    operand = Operand("mask", "cpu", shape=(3,), history=(*HOST.history, event("op", "eq", "cpu", AT)))
    found = failure(GPU, operand, scope=scope)
    assert [each.expression for each in derived_in_frame(found, operand, 0)] == ["self.mask"]
    (one,) = stored_attributes(found, operand)
    assert (one.whole, one.attribute, one.module and one.module.type) == ("self", "mask", "Net")


def test_the_largest_misplaced_module() -> None:
    owner = ModuleOwner("model.head", 0, "Linear", "weight", "parameter", "model")
    weight = Operand("other", "cpu", shape=(3,), history=HOST.history, owner=owner, holders=(owner,))
    scope = (ScopeVariable("model", "module", "mixed", "Net"), ScopeVariable("model.head", "module", "cpu", "Linear"))
    found = failure(GPU, weight, scope=scope)
    assert [binding.expression for _, binding in root_modules(found, weight)] == ["model"]
    late = largest_misplaced_module(found, weight)
    assert late is not None and late.expression == "model.head"


def test_statements_that_others_dominate() -> None:
    file = File("m.py", b"def f(self):\n    self.x = None\n    if a:\n        self.x = 1\n    self.y = 2\n")
    found = assignments(file, "self.x")
    assert [file.code(each) for each in dominating(file, found)] == ["self.x = None"]


def test_a_name_that_the_loop_rebinds_is_not_yielded() -> None:
    file = File("m.py", b"for x in data:\n    for y in x:\n        g(x, y)\nh(x)\n")
    inner, outer = file.find(file.module, "g(x, y)")[0], file.find(file.module, "h(x)")[0]
    assert [is_loop_variable(file, inner, name) for name in ("x", "y", "z")] == [True, True, False]
    assert not is_loop_variable(file, outer, "x")
    assert isinstance(inner, cst.Call)


def test_a_property_of_a_module_tells_where_its_parameters_are_and_declares_nothing() -> None:
    owner = ModuleOwner("self.teacher", 0, "Net", "weight", "parameter", "self.teacher")
    weight = Operand("weight", "cpu", shape=(3,), owner=owner, holders=(owner,), history=HOST.history)
    given = ScopeVariable("self.teacher.device", "device", "cpu", "Property")
    module = ScopeVariable("self.teacher", "module", "cpu", "Net")
    assert not is_intentional(failure(GPU, weight, scope=(module, given)), weight)
    assert is_intentional(failure(GPU, weight, scope=(module, replace(given, type="device"))), weight)
