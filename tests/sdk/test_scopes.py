"""What was in scope at a place, by name, by device and by function."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import X, main, meeting, place, tensor

from devfix.model import Event, Frame, ScopeVariable, SourceLocation
from devfix.sdk import device_in, on_device, scope_of
from devfix.sdk.trace.scopes import named_at

CODE = """y = x + mask
class Model:
    def forward(self):
        def inner():
            return x.sum()
        return inner()
def forward(x):
    return x.mean()
"""


def test_the_device_in_a_frame() -> None:
    failure = meeting(CODE, "x + mask")[0].failure
    found = [device_in(failure, *asked) for asked in ((0, "x"), (0, "mask"), (0, "z"), (1, "x"), (-1, "x"))]
    assert found == ["cuda:0", "cpu", "", "", ""]


def test_the_names_of_a_tensor_at_a_place_nearest_first() -> None:
    made, cut, cast = (Event("op", f"aten::{op}", "cpu", (place(CODE, "x.sum()"),)) for op in ("zeros", "slice", "to"))
    scope = [
        tensor("source", history=(made,)),
        tensor("a.view", history=(made, cut)),
        tensor("the_view", history=(made, cut)),
        tensor("it", history=(made, cut)),
        tensor("other", history=(cut,)),
        tensor("later", history=(made, cut, cast, cast)),
        tensor("unknown"),
        ScopeVariable("model", "module", "cpu", history=(made,)),
    ]
    failure = meeting(CODE, "x + mask", scope=scope, history=[made, cut, cast])[0].failure
    at = failure.frames[0].place
    assert named_at(failure, at, failure.operands[1]) == ["it", "the_view", "a.view", "source"]
    same = replace(failure.operands[1], history=(made, cut))
    assert named_at(failure, at, same) == ["it", "the_view", "a.view", "source"]
    assert named_at(failure, at, replace(same, history=())) == []
    assert named_at(failure, SourceLocation("other.py", 1, "g"), same) == []


def test_what_lies_on_a_device_plainest_first() -> None:
    scope = [
        X,
        tensor("a.b", "cuda:0"),
        tensor("weight", "cuda:0"),
        ScopeVariable("net", "module", "cuda:0"),
        tensor("c"),
    ]
    assert [each.expression for each in on_device(scope, "cuda:0")] == ["x", "net", "weight", "a.b"]
    assert [each.expression for each in on_device(scope, "cuda:0", "module")] == ["net"]
    assert [each.expression for each in on_device(scope, "cpu", "tensor", "module")] == ["c"]


@pytest.mark.parametrize(
    ("text", "name"),
    [("x + mask", "module"), ("x.sum()", "inner"), ("return inner()", "method"), ("x.mean()", "function")],
)
def test_the_scope_of_a_node_is_that_of_its_function(text: str, name: str) -> None:
    seen = {
        "<module>": "module",
        "Model.forward.<locals>.inner": "inner",
        "Model.forward": "method",
        "forward": "function",
    }
    failure = meeting(CODE, "x + mask")[0].failure
    frames = [Frame(SourceLocation("main.py", 9, each, owned=True), (tensor(told),)) for each, told in seen.items()]
    elsewhere = [replace(each, place=replace(each.place, path="other.py"), scope=(X,)) for each in frames]
    empty = [replace(each, scope=()) for each in frames]
    file = main(CODE)
    node = next(each for each in file.within(file.module) if file.code(each) == text)
    for split in (0, 2, 4):
        records = tuple((each.place, each.scope) for each in frames[split:])
        some = replace(failure, frames=(*elsewhere, *empty, *frames[:split]), scopes=records)
        assert [each.expression for each in scope_of(some, file, node)] == [name]
    assert scope_of(replace(failure, frames=tuple(elsewhere)), file, node) == ()
