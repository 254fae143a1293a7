"""A tensor is moved where it is used once, in front where it is read again, never where a copy would lose writes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import after, meeting, tensor, use_site

from devfix.model import Event, NameRef, ScopeVariable, SourceLocation
from devfix.sdk import is_written_to
from devfix.sdk.fixes.moves import move_argument


def moved(code: str, failing: str, name: str = "mask", **met: object) -> list[str]:
    diagnosis, source = meeting(code, failing, name, **met)  # type: ignore[arg-type]
    return [after(each) for each in move_argument(diagnosis, use_site(diagnosis, name), source)]


def test_a_name_that_is_read_once_is_moved_where_it_stands() -> None:
    code = "def f(x, mask):\n    return x + mask\n"
    assert moved(code, "x + mask") == [
        "def f(x, mask):\n    return x + mask.to(x.device)\n",
        "def f(x, mask):\n    mask = mask.to(x.device)\n    return x + mask\n",
    ]


@pytest.mark.parametrize("below", ["    return y + mask\n", "    return y.mul(mask)\n"])
def test_a_name_that_is_read_again_is_moved_in_front(below: str) -> None:
    code = f"def f(x, mask):\n    y = x + mask\n{below}"
    assert moved(code, "x + mask") == [
        f"def f(x, mask):\n    mask = mask.to(x.device)\n    y = x + mask\n{below}",
        f"def f(x, mask):\n    y = x + mask.to(x.device)\n{below}",
    ]


def test_a_parameter_that_may_be_none_is_not_moved_in_front_of_its_test() -> None:
    code = "def f(x, mask=None):\n    y = x + mask if mask is not None else x\n    return y, mask\n"
    assert moved(code, "x + mask") == [code.replace("x + mask", "x + mask.to(x.device)")]


def test_an_attribute_that_may_be_none_is_not_moved_in_front_of_its_test() -> None:
    code = (
        "class A:\n    mask = None\n    def f(self, x):\n        y = x + self.mask if self.mask is not None else x\n"
        "        return y if self.mask is None else y * self.mask\n    def reset(self):\n        self.mask = None\n"
    )
    found = moved(code, "x + self.mask", "self.mask")
    assert found == [code.replace("x + self.mask", "x + self.mask.to(x.device)")]


def test_what_stands_above_or_is_given_a_value_below_is_no_reading_again() -> None:
    code = "def f(x, mask):\n    show(mask)\n    y = x + mask\n    mask = None\n    return y\n"
    assert moved(code, "x + mask")[0] == code.replace("x + mask", "x + mask.to(x.device)")


def test_twice_in_one_statement_is_read_again() -> None:
    code = "def f(x, mask):\n    return (x + mask) * mask\n"
    assert moved(code, "x + mask")[0] == code.replace("    ret", "    mask = mask.to(x.device)\n    ret")


def test_what_an_operand_was_made_of_is_left_as_it_was() -> None:
    code = "def f(x, mask):\n    return add(head(mask, x), mask)\n"
    assert moved(code, "add(head(mask, x), mask)")[0] == code.replace(", mask)\n", ", mask.to(x.device))\n")


def test_out_of_a_loop_that_does_not_change_it() -> None:
    code = "def f(xs, x, mask):\n    for _ in xs:\n        x = x.sin()\n        x = x + mask\n"
    assert moved(code, "x + mask")[0].startswith("def f(xs, x, mask):\n    for _ in xs:\n        x = x.sin()\n")
    code = "def f(rows, x, mask):\n    for row in rows:\n        row.add(x + mask)\n"
    assert moved(code, "x + mask")[0] == code.replace("    for", "    mask = mask.to(x.device)\n    for")


def test_a_name_of_the_module_is_not_bound_in_a_function() -> None:
    code = "mask = make()\ndef f(x):\n    y = x + mask\n    return y + mask\n"
    assert moved(code, "x + mask") == [code.replace("x + mask", "x + mask.to(x.device)")]


def test_what_may_be_no_tensor_is_left_alone() -> None:
    assert moved("def f(x, mask=None):\n    return x + mask\n", "x + mask") == []


def test_a_variable_that_the_statement_asks_for_is_moved_where_it_is_a_tensor() -> None:
    code = "def f(x):\n    mask = current()\n    return x if mask is None else x + mask\n"
    assert moved(code, "x + mask") == [code.replace("x + mask", "x + mask.to(x.device)")]


def test_what_is_written_to_is_never_copied_where_it_stands() -> None:
    code = "def f(x, rows):\n    mask = make()\n    mask.add_(x)\n    return mask\n"
    written = {"op": "aten::add_", "argument": "self"}
    assert moved(code, "mask.add_(x)", **written) == [
        code.replace("    mask.add", "    mask = mask.to(x.device)\n    mask.add")
    ]
    given = "def f(x, mask):\n    mask.add_(x)\n    return mask\n"
    assert moved(given, "mask.add_(x)", **written) == []


def test_what_is_written_below_is_not_bound_to_a_copy() -> None:
    code = "def f(x, mask):\n    y = x + mask\n    mask += 1\n    return y, mask\n"
    assert moved(code, "x + mask") == [code.replace("x + mask", "x + mask.to(x.device)")]


@pytest.mark.parametrize("write", ["torch.index_put_(mask, i, x)", "nn.init.copy_(mask, x)", "mask.copy_(x)"])
def test_a_parameter_that_is_written_to_is_the_caller_s(write: str) -> None:
    for above in ("", "    mask = mask.view(-1)\n"):
        code = f"def f(x, mask, i):\n{above}    {write}\n"
        assert moved(code, write, op="aten::index_put_", argument="self") == []
    code = f"def f(x, i):\n    mask = make()\n    {write}\n    return mask\n"
    expected = [code.replace(f"    {write}", f"    mask = mask.to(x.device)\n    {write}")]
    assert moved(code, write, op="aten::index_put_", argument="self") == expected


def test_nor_are_its_like_copied_with_what_is_written_to() -> None:
    code = "def f(self, x):\n    self.total.add_(x + self.step)\n"
    written = {"op": "aten::add_", "argument": "self", "scope": [tensor("self.step")]}
    assert moved(code, "self.total.add_(x + self.step)", "self.total", **written) == []


def test_no_anchor_is_the_tensor_itself() -> None:
    code = "def f(x, mask):\n    return x + mask\n"
    own = ScopeVariable("mask.device", "device", "cuda:0")
    assert moved(code, "x + mask", scope=[own])[0] == code.replace("x + mask", "x + mask.to(x.device)")
    code = "def f(model):\n    return model + 1\n"
    inside = tensor("model.weight", "cuda:0", type="torch.nn.Parameter")
    found = moved(code, "model + 1", "model", scope=[inside])
    assert found
    assert all("model.weight.device" not in each for each in found)


def test_each_name_of_the_tensor_that_the_line_reads_is_tried() -> None:
    code = "def f(x, mask, row=None):\n    return x + mask + row\n"
    diagnosis, source = meeting(code, "x + mask + row")
    site = use_site(diagnosis, "other", "row", "mask")
    assert next(each.title for each in move_argument(diagnosis, site, source)) == "Move `mask` to `x.device`"


@pytest.mark.parametrize("change", [{"owned": False}, {"path": "lost.py"}, {"line": 40, "end_line": 40}])
def test_nothing_where_the_file_or_its_line_is_not_there(change: dict[str, object]) -> None:
    diagnosis, source = meeting("def f(x, mask):\n    return x + mask\n", "x + mask")
    site = use_site(diagnosis, "mask")
    site = replace(site, place=replace(site.place, **change))  # type: ignore[arg-type]
    assert list(move_argument(diagnosis, site, source)) == []


def test_what_a_lambda_is_given_is_no_name_around_it() -> None:
    code = "def f(self, mask, masks):\n    return apply(lambda mask: self(mask) * mask, masks)\n"
    found = moved(code, "self(mask)", scope=[ScopeVariable("self.device", "device", "cuda:0")])
    assert found == [code.replace("self(mask)", "self(mask.to(self.device))")]


def test_an_attribute_is_copied_once_for_all_that_read_it() -> None:
    code = "def f(self, x):\n    y = x + self.mask\n    return y + self.mask\n"
    assert moved(code, "x + self.mask", "self.mask") == [
        "def f(self, x):\n    mask = self.mask.to(x.device)\n    y = x + mask\n    return y + mask\n",
        code.replace("x + self.mask", "x + self.mask.to(x.device)"),
    ]


def test_indices_are_moved_together() -> None:
    code = "def f(x, rows, columns):\n    return x[rows, columns]\n"
    diagnosis, source = meeting(code, "x[rows, columns]", "rows", op="aten::index", argument="indices[0]")
    beside = replace(diagnosis.failure.operands[1], argument="indices[1]", names=(NameRef(0, "columns"),))
    failure = replace(diagnosis.failure, operands=(*diagnosis.failure.operands, beside))
    diagnosis = replace(diagnosis, failure=failure)
    found = [after(each) for each in move_argument(diagnosis, use_site(diagnosis, "rows"), source)]
    assert found[0] == code.replace("[rows, columns]", "[rows.to(x.device), columns.to(x.device)]")
    one = replace(
        diagnosis, failure=replace(failure, operands=(*failure.operands[:2], replace(beside, device="cuda:0")))
    )
    found = [after(each) for each in move_argument(one, use_site(one, "rows"), source)]
    assert found and not any("columns.to" in each for each in found)


def test_an_attribute_twice_in_a_statement_is_moved_twice() -> None:
    code = "def f(self, x):\n    return x * self.mask + self.mask\n"
    assert moved(code, "x * self.mask", "self.mask") == [
        "def f(self, x):\n    return x * self.mask.to(x.device) + self.mask.to(x.device)\n"
    ]


@pytest.mark.parametrize(
    "asked",
    ["len(self.mask)", "self.mask.shape[0]", "self.mask.dim()", "self.mask is not None", "isinstance(self.mask, T)"],
)
def test_a_length_a_type_or_a_shape_is_asked_of_an_attribute_wherever_it_lies(asked: str) -> None:
    code = f"def f(self, x):\n    return x[:1] if {asked} else x * self.mask\n"
    assert moved(code, "x * self.mask", "self.mask") == [code.replace("x * self.mask", "x * self.mask.to(x.device)")]


def test_its_like_on_the_same_object_are_moved_with_it() -> None:
    code = "def f(self, x):\n    return (x - self.mean) / self.deviation * self.here\n"
    flat = tensor("self.here", shape=())
    scope = [tensor("self.deviation"), flat, tensor("self.scale"), tensor("other.deviation")]
    found = moved(code, "x - self.mean", "self.mean", scope=scope)
    inline = code.replace("self.mean", "self.mean.to(x.device)")
    assert found == [inline, inline.replace("self.deviation", "self.deviation.to(x.device)")]
    diagnosis, source = meeting(code, "x - self.mean", "self.mean", scope=scope)
    both = list(move_argument(diagnosis, use_site(diagnosis, "self.mean"), source))[1]
    assert (both.title, both.safety) == ("Move `self.mean` to `x.device`, and similar tensors beside it", "likely")


def test_an_attribute_twice_in_a_statement_is_moved_twice_beside_its_like() -> None:
    code = "def f(self, x):\n    return (x - self.mean) / self.deviation + self.mean\n"
    inline = code.replace("self.mean", "self.mean.to(x.device)")
    found = moved(code, "x - self.mean", "self.mean", scope=[tensor("self.deviation")])
    assert found == [inline, inline.replace("self.deviation", "self.deviation.to(x.device)")]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_names_are_alike_where_one_import_made_both(elsewhere: bool) -> None:
    made = Event("factory", "aten::zeros", "cpu", (SourceLocation("data.py", 1, "<module>", owned=True),))
    other = Event(
        "factory", "aten::zeros", "cpu", (SourceLocation("main.py" if elsewhere else "data.py", 2, "<module>"),)
    )
    code = "def f(x):\n    return (x - mean) / deviation\n"
    scope = [tensor("deviation", history=(other,))]
    found = moved(code, "x - mean", "mean", scope=scope, history=[made])
    inline = code.replace("mean", "mean.to(x.device)")
    both = inline.replace("deviation", "deviation.to(x.device)")
    assert found == ([inline] if elsewhere else [inline, both])


def test_names_that_a_function_made_have_each_a_reason_of_its_own() -> None:
    made = Event("factory", "aten::zeros", "cpu", (SourceLocation("main.py", 1, "f", owned=True),))
    code = "def f(x):\n    return (x - mean) / deviation\n"
    found = moved(code, "x - mean", "mean", scope=[tensor("deviation", history=(made,))], history=[made])
    assert found == [code.replace("mean", "mean.to(x.device)")]


@pytest.mark.parametrize(
    ("op", "argument", "is_written"),
    [
        ("aten::add_", "self", True),
        ("aten::add_", "input", True),
        ("torch.Tensor.add_", "self", True),
        ("aten::add_", "other", False),
        ("aten::add", "self", False),
        ("aten::add", "out", True),
        ("aten::__iadd__", "self", False),
        ("lib::in_.place", "self", False),
    ],
)
def test_what_an_operator_writes_to(op: str, argument: str, is_written: bool) -> None:
    diagnosis, _ = meeting("def f(x, mask):\n    x + mask\n", "x + mask", op=op, argument=argument)
    assert is_written_to(diagnosis.failure, diagnosis.failure.operands[1]) == is_written


@pytest.mark.parametrize(("failing", "side"), [("drawn(x) * x", "self"), ("x > drawn(x)", "other")])
def test_the_result_of_a_call_that_has_no_name(failing: str, side: str) -> None:
    code = f"def f(x):\n    return {failing}\n"
    diagnosis, source = meeting(code, failing, "mask")
    operands = tuple(
        replace(each, argument=side, names=()) if each.device == "cpu" else each for each in diagnosis.failure.operands
    )
    unnamed = replace(diagnosis, failure=replace(diagnosis.failure, operands=operands))
    found = [after(each) for each in move_argument(unnamed, use_site(unnamed), source)]
    assert found == [code.replace("drawn(x)", "drawn(x).to(x.device)")]
    other = {"self": "other", "other": "self"}[side]
    operands = tuple(replace(each, argument=other) if each.device == "cpu" else each for each in operands)
    swapped = replace(unnamed, failure=replace(unnamed.failure, operands=operands))
    assert list(move_argument(swapped, use_site(swapped), source)) == []  # that side is no call


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        ("conv(cat(xs), x, groups=len(xs))", "conv(cat(xs).to(x.device), x, groups=len(xs))"),
        ("cat(xs).dot(x)", "cat(xs).to(x.device).dot(x)"),
        ("cat(xs).mul_(2).add_(x)", None),  # a copy would be written to
        ("conv(cat(xs), cat(x))", None),  # either could be meant
        ("conv(xs, x, groups=len(xs))", None),
    ],
)
def test_the_only_call_among_the_arguments_of_a_failing_one(failing: str, expected: str | None) -> None:
    code = f"def f(x, xs):\n    return {failing}\n"
    diagnosis, source = meeting(code, failing, "mask")
    operands = tuple(replace(each, names=()) if each.device == "cpu" else each for each in diagnosis.failure.operands)
    unnamed = replace(diagnosis, failure=replace(diagnosis.failure, operands=operands))
    found = [after(each) for each in move_argument(unnamed, use_site(unnamed), source)]
    assert found == ([code.replace(failing, expected)] if expected else [])
    elsewhere = [after(each) for each in move_argument(unnamed, use_site(unnamed, "other"), source)]
    assert elsewhere == found  # a tensor that it was made of is not in the failing expression


def test_what_a_call_returns_follows_what_it_meets_before_what_is_declared() -> None:
    code = "def f(x, xs, device):\n    return conv(cat(xs), x)\n"
    declared = ScopeVariable("device", "device", "cuda:0")
    diagnosis, source = meeting(code, "conv(cat(xs), x)", "mask", (declared,))
    found = [after(each) for each in move_argument(diagnosis, use_site(diagnosis), source)]
    assert found == [code.replace("cat(xs)", f"cat(xs).to({device})") for device in ("x.device", "device")]


def test_what_a_call_returns_goes_to_a_plain_device_before_that_of_a_part_of_a_module() -> None:
    code = "def f(net, xs, device):\n    return conv(cat(xs), net.bias)\n"
    declared = ScopeVariable("device", "device", "cuda:0"), tensor("net.bias", "cuda:0")
    diagnosis, source = meeting(code, "conv(cat(xs), net.bias)", "mask", declared)
    met, blamed = diagnosis.failure.operands
    operands = replace(met, names=(NameRef(0, "net.bias"),)), blamed
    diagnosis = replace(diagnosis, failure=replace(diagnosis.failure, operands=operands))
    found = [after(each) for each in move_argument(diagnosis, use_site(diagnosis), source)]
    assert [code.replace("cat(xs)", f"cat(xs).to({each})") for each in ("device", "net.bias.device")] == found[:2]
