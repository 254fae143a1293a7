"""The expression for the right device that a reader would expect, bound where it is to stand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import main, meeting, place, tensor, use_site

from devfix.model import NameRef, Operand, ScopeVariable
from devfix.sdk import device_names
from devfix.sdk.fixes.device_expressions import device_expressions

DEVICE = ScopeVariable("device", "device", "cuda:0", "torch.device")
MODEL = ScopeVariable("model", "module", "cuda:0", "Model")
WEIGHT = tensor("model.weight", "cuda:0", type="torch.nn.parameter.Parameter")


def parameter(name: str) -> ScopeVariable:
    return tensor(name, "cuda:0", type="torch.nn.parameter.Parameter")


@pytest.mark.parametrize(
    ("head", "scope", "expected"),
    [
        ("def f(x, mask, device)", [DEVICE], ["device", "x.device"]),
        ("def f(x, mask, y)", [tensor("y", "cuda:0")], ["x.device", "y.device"]),
        ("def f(x, mask, y)", [tensor("y", "cuda:1")], ["x.device"]),
        ("def f(y, mask, x)", [tensor("y", "cuda:0"), replace(DEVICE, device="cuda:1")], ["x.device", "y.device"]),
        ("def f(x, mask, where)", [replace(DEVICE, expression="where")], ["where", "x.device"]),
        ("def f(x, mask, dev)", [replace(DEVICE, expression="dev", device="cuda")], ["dev", "x.device"]),
        ("def f(x, mask, name)", [ScopeVariable("name", "string", "cuda")], ["name", "x.device"]),
        ("def f(x, mask, rank)", [ScopeVariable("rank", "index", "cuda:0")], ["rank", "x.device"]),
        ("def f(x, mask, device)", [replace(DEVICE, kind="object")], ["x.device"]),
        ("def f(x, mask, device=None)", [DEVICE], ["device", "x.device"]),
        ("def f(x, mask, self)", [replace(DEVICE, expression="self.device")], ["x.device"]),
        # The weights of a module in reach add nothing where something names the device outright, and little else.
        ("def f(x, mask, model)", [MODEL, WEIGHT], ["x.device"]),
        ("def f(x, mask, device, model)", [DEVICE, MODEL], ["device", "x.device"]),
        # A bias may be None elsewhere, an element another one, and a parameter with a default no tensor.
        (
            "def f(x, mask, m)",
            [parameter("m.bias"), parameter("m.weight")],
            ["x.device", "m.weight.device", "m.bias.device"],
        ),
        # A normalization may have no statistics.
        (
            "def f(x, mask, m)",
            [tensor("m.running_var", "cuda:0"), parameter("m.weight")],
            ["x.device", "m.weight.device", "m.running_var.device"],
        ),
        (
            "def f(x, mask, ys, y)",
            [tensor("ys[0]", "cuda:0"), tensor("y", "cuda:0")],
            ["x.device", "y.device", "ys[0].device"],
        ),
        ("def f(x, mask, y=None, yy=1)", [tensor("y", "cuda:0")], ["x.device", "y.device"]),
        ("def f(mask, x=None, yy=ONE)", [tensor("yy", "cuda:0")], ["yy.device", "x.device"]),
        # What is not bound, not yet bound, or stands for nothing elsewhere.
        ("def f(x, mask, y)", [tensor("later", "cuda:0"), tensor("_", "cuda:0")], ["x.device"]),
        ("def f(x, mask, parts)", [tensor("parts[1]", "cuda:0")], ["x.device"]),
        ("def f(x, mask)", [tensor("y", "cuda:0")], ["x.device"]),
        ("def f(x, mask, c, b=None)", [tensor("b.y", "cuda:0"), tensor("c.yy", "cuda:0")], ["x.device", "c.yy.device"]),
        # A key that the function does not write is one of this run.
        (
            "def f(x, mask, c, m)",
            [tensor('c["default"]', "cuda:0"), parameter("m.layer.weight")],
            ["x.device", "m.layer.weight.device"],
        ),
        (
            'def f(x, mask, c, m, key="default")',
            [tensor('c["default"]', "cuda:0"), parameter("m.layer.weight")],
            ["x.device", 'c["default"].device', "m.layer.weight.device"],
        ),
    ],
)
def test_anchors_best_first(head: str, scope: list[ScopeVariable], expected: list[str]) -> None:
    code = f"{head}:\n    y = x + mask\n    later = y\n    _ = y\n    parts = y\n"
    diagnosis, source = meeting(code, "x + mask", scope=scope)
    site = use_site(diagnosis, "mask")
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(diagnosis, site, file) == expected
    assert device_expressions(diagnosis, site, file, limit=1) == expected[:1]


def test_a_module_alone_is_asked_for_its_parameters() -> None:
    code = "def f(model, mask):\n    return model.head(mask)\n"
    head = ScopeVariable("model.head", "module", "cuda:0", "Linear")
    diagnosis, source = meeting(code, "model.head(mask)", scope=[MODEL, head])
    frames = (replace(diagnosis.failure.frames[0], scope=(MODEL, head)),)
    diagnosis = replace(diagnosis, failure=replace(diagnosis.failure, frames=frames))
    site = use_site(diagnosis, "mask")
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(diagnosis, site, file) == ["next(model.parameters()).device"]
    buffer = tensor("model.table")
    assert device_expressions(diagnosis, replace(site, scope=(MODEL, buffer)), file) == []
    weight = replace(WEIGHT, device="cpu")
    assert device_expressions(diagnosis, replace(site, scope=(MODEL, buffer, weight)), file) == [
        "next(model.parameters()).device"
    ]
    assert device_expressions(diagnosis, replace(site, scope=(replace(MODEL, device="mixed"),)), file) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(self, x, mask):\n    y = x.to(self.where)\n    return x + mask\n", ["self.where", "x.device"]),
        (
            "def f(self, x, mask):\n    y = zeros(3, device = self.where)\n    return x + mask\n",
            ["self.where", "x.device"],
        ),
        ("def f(self, x, mask):\n    return x + mask\n", ["x.device", "self.where"]),
        (
            "class A:\n  def f(self, x, mask):\n    return x.to(y.device) + mask\n",
            ["y.device", "x.device", "self.where"],
        ),
    ],
)
def test_what_the_file_places_tensors_by_gains(code: str, expected: list[str]) -> None:
    where = ScopeVariable("self.where", "device", "cuda:0")
    scope = [where, tensor("y", "cuda:0")] if "y.device" in code else [where]
    code = code.replace("mask)", "mask, y)", 1) if "y.device" in code else code
    failing = "x.to(y.device) + mask" if "y.device" in code else "x + mask"
    diagnosis, source = meeting(code, failing, scope=scope)
    site = use_site(diagnosis, "mask")
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(diagnosis, site, file) == expected


def test_what_may_be_of_another_type_in_other_calls_comes_later() -> None:
    code = "def f(x, mask, y):\n    if isinstance(x, slice) or y:\n        z = x + mask\n    return z\n"
    diagnosis, source = meeting(code, "x + mask", scope=[tensor("y", "cuda:0")])
    site = use_site(diagnosis, "mask")
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(diagnosis, site, file) == ["y.device", "x.device"]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("None", ["x.device", "self.order.device"]),
        ("make()", ["self.order.device", "x.device"]),
    ],
)
def test_an_attribute_that_other_calls_leave_none_comes_later(first: str, expected: list[str]) -> None:
    code = (
        f"class A:\n  def f(self, x=None):\n    self.order = {first}\n    x = prepare(self, x)\n    return x + mask\n"
    )
    diagnosis, source = meeting(code, "x + mask", scope=[tensor("self.order", "cuda:0")])
    site = use_site(diagnosis, "mask")
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(diagnosis, site, file) == expected


def test_a_device_of_the_module_counts_where_the_function_reads_it() -> None:
    code = "device = pick()\ndef f(x, mask, y):\n    y = zeros({})\n    return x + mask\n"
    for inner, expected in (
        ("device", ["device", "x.device"]),
        ("3, device=3", ["x.device"]),
        ("y.device", ["x.device"]),
    ):
        text = code.format(inner)
        diagnosis, source = meeting(text, "x + mask", scope=[DEVICE])
        site = use_site(diagnosis, "mask")
        file = source.file(site.place)
        assert file is not None
        assert device_expressions(diagnosis, site, file) == expected


def test_any_parameter_of_a_module_comes_before_a_weight_that_another_one_may_lack() -> None:
    diagnosis, source = meeting("def f(model, mask):\n    return model(mask)\n", "model(mask)")
    for weight in (WEIGHT, replace(WEIGHT, expression="model[0].weight")):
        site = replace(use_site(diagnosis, "mask"), scope=(MODEL, weight))
        file = source.file(site.place)
        assert file is not None and device_expressions(diagnosis, site, file)[0] == "next(model.parameters()).device"


def test_on_the_host_it_is_named_outright() -> None:
    code = "def f(x, mask):\n    return x + mask\n"
    diagnosis, source = meeting(code, "x + mask", device="cpu")
    site = use_site(diagnosis, "mask")
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(diagnosis, site, file) == ['"cpu"', "mask.device"]
    assert device_expressions(diagnosis, replace(site, frame=None), file) == ["mask.device"]


def test_the_host_itself_comes_before_what_does_not_say_that_it_is_a_device() -> None:
    diagnosis, source = meeting("def f(x, mask, at):\n    return x + mask\n", "x + mask", device="cpu")
    site = replace(use_site(diagnosis, "mask"), scope=(ScopeVariable("at", "device", "cpu"),))
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(diagnosis, site, file) == ['"cpu"', "at"]


@pytest.mark.parametrize("frame", [0, None])
def test_what_the_tensor_met_in_the_frame_at_hand_comes_first(frame: int | None) -> None:
    code = "def f(long, mask, y):\n    return long + mask\n"
    diagnosis, source = meeting(code, "long + mask", scope=[tensor("long", "cuda:0"), tensor("y", "cuda:0")])
    failure = diagnosis.failure
    operands = (replace(failure.operands[0], names=(NameRef(0, "long"), NameRef(1, "y"))), failure.operands[1])
    frames = (*failure.frames, failure.frames[0]) if frame == 0 else failure.frames
    diagnosis = replace(diagnosis, failure=replace(failure, operands=operands, frames=frames))
    site = replace(use_site(diagnosis, "mask"), frame=frame, scope=(tensor("long", "cuda:0"), tensor("y", "cuda:0")))
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(diagnosis, site, file) == ["long.device", "y.device"]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ([("cc", "module"), ("a.b", "module")], ["next(cc.parameters()).device", "next(a.b.parameters()).device"]),
        ([("y", "tensor"), ("cc", "module")], ["y.device", "next(cc.parameters()).device"]),
        ([("b.y", "tensor"), ("a.b", "module")], ["b.y.device", "next(a.b.parameters()).device"]),
    ],
)
def test_modules_come_last(scope: list[tuple[str, str]], expected: list[str]) -> None:
    diagnosis, source = meeting("def f(x, mask, a, b, cc, y):\n    return x + mask\n", "x + mask")
    site = replace(use_site(diagnosis), scope=tuple(ScopeVariable(name, kind, "cuda:0") for name, kind in scope))
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(diagnosis, site, file) == expected


def test_where_two_gpus_meet_an_unindexed_name_says_too_little() -> None:
    code = "def f(x, mask, name, w, y):\n    return x + mask\n"
    scope = [ScopeVariable("name", "string", "cuda"), parameter("w"), tensor("y", "cuda:0")]
    diagnosis, source = meeting(code, "x + mask", scope=scope)
    operands = (diagnosis.failure.operands[0], replace(diagnosis.failure.operands[1], device="cuda:1"))
    two = replace(diagnosis, failure=replace(diagnosis.failure, operands=operands))
    site = use_site(diagnosis, "mask")
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(diagnosis, site, file) == ["name", "x.device", "y.device"]
    assert device_expressions(two, site, file) == ["x.device", "y.device", "w.device"]
    weight = parameter("self.a.weight")
    met = (replace(operands[0], names=(NameRef(0, "self.a.weight"),)), operands[1])
    kept = replace(two, failure=replace(two.failure, operands=met))
    inside = replace(site, scope=(weight, tensor("y", "cuda:0")))
    file = main("def f(self, x, mask, y):\n    self.a\n    return x + mask\n")
    assert device_expressions(kept, replace(inside, place=place(file.module.code, "x + mask")), file) == [
        "self.a.weight.device",
        "y.device",
    ]
    biased = replace(met[0], names=(NameRef(0, "self.a.bias"), NameRef(0, "self.a.weight")))
    linear = replace(two, failure=replace(two.failure, operands=(biased, operands[1])))
    layer = replace(inside, place=place(file.module.code, "x + mask"), scope=(parameter("self.a.bias"), weight))
    assert device_expressions(linear, layer, file) == ["self.a.weight.device", "self.a.bias.device"]
    third = Operand("third", "cuda:0", shape=(3,), names=(NameRef(0, "y"),))
    both = replace(two, failure=replace(two.failure, operands=(*operands, third)))
    assert device_expressions(both, site, file) == ["x.device", "y.device", "w.device"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("device", ["device"]),
        ("args.device", ["args.device"]),
        ("map_location", ["map_location"]),
        ("dev", ["dev"]),
        ("name", []),
        ("later_device", []),
    ],
)
def test_names_for_any_device(text: str, names: list[str]) -> None:
    code = "def f(x, mask, args, device, dev, map_location, name):\n    y = x + mask\n    later_device = 1\n"
    scope = [ScopeVariable(text, "device", "cpu"), ScopeVariable("x.device", "other", "cpu")]
    diagnosis, source = meeting(code, "x + mask", scope=scope)
    file = source.file(diagnosis.failure.frames[0].place)
    assert file is not None
    assert device_names(use_site(diagnosis), file) == names


def test_the_plainest_name_for_a_device_first() -> None:
    code = "def f(x, mask, args, device, dev, a, map_location):\n    y = x + mask\n"
    scope = [
        ScopeVariable(each, "string", "cpu") for each in ("args.a.device", "a.dev", "map_location", "device", "dev")
    ]
    diagnosis, source = meeting(code, "x + mask", scope=scope)
    file = source.file(diagnosis.failure.frames[0].place)
    assert file is not None
    assert device_names(use_site(diagnosis), file) == ["dev", "device", "map_location", "a.dev", "args.a.device"]


def test_a_device_that_its_function_knows_nothing_of_is_no_name_for_one() -> None:
    for code, names in (
        ("device = pick()\ndef f(x, mask):\n    y = x + mask\n", []),
        ("device = pick()\ny = x + mask\n", ["device"]),
    ):
        diagnosis, source = meeting(code, "x + mask", scope=[DEVICE])
        file = source.file(diagnosis.failure.frames[0].place)
        assert file is not None
        assert device_names(use_site(diagnosis), file) == names
