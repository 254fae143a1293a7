"""Who decided the device of a tensor: the call that placed it, or a caller that passed the device on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import X, after, main, meeting, place

from devfix.model import Diagnosis, Frame, ScopeVariable, SourceLocation
from devfix.sdk import DeviceSource, Sources, is_passed_in, replace_device_name
from devfix.sdk.fixes.device_source import change_device_sources, device_sources
from devfix.source.queries.reading import definition

ZEROS = "torch.zeros(n, device=device)"
MAKE = f"def make(n, device=None):\n    return {ZEROS}\n"


def find_sources(
    files: dict[str, str], *calls: tuple[str, str, str], scope: tuple[ScopeVariable, ...] = (X,)
) -> list[DeviceSource]:
    return diagnose_calls(files, *calls)[1]


def diagnose_calls(
    files: dict[str, str], *calls: tuple[str, str, str], scope: tuple[ScopeVariable, ...] = (X,)
) -> tuple[Diagnosis, list[DeviceSource]]:
    """The origins of calls, each (path, function, text), the placing one first; `scope` is that of every function."""
    places = [place(files[path], text, function, path) for path, function, text in calls]
    diagnosis, _ = meeting("x + mask", "x + mask")
    frames = tuple(Frame(each, scope) for each in places)
    diagnosis = replace(diagnosis, failure=replace(diagnosis.failure, frames=frames))
    return diagnosis, device_sources(diagnosis.failure, places, Sources({k: v.encode() for k, v in files.items()}.get))


def summarize(every: list[DeviceSource]) -> list[tuple[str, str | None, str]]:
    return [
        (each.file.code(each.call), each.file.code(each.named) if each.named is not None else None, each.parameter)
        for each in every
    ]


INNER = (ZEROS, "device", "")


def test_a_parameter_of_an_inherited_constructor() -> None:
    made = "torch.zeros(3, device=device)"
    classes = f"class A:\n    def __init__(self, device=None):\n        self.x = {made}\n\n\nclass B(A):\n    pass\n"
    files = {"main.py": f"{classes}\n\ndef f(x):\n    b = B()\n"}
    found = find_sources(files, ("main.py", "A.__init__", made), ("main.py", "f", "B()"))
    assert summarize(found) == [("B()", None, "device"), (made, "device", "")]
    own = classes.replace("pass", "def __init__(self): pass")
    files = {"main.py": f"{own}\n\ndef f(x):\n    b = B()\n"}
    found = find_sources(files, ("main.py", "A.__init__", made), ("main.py", "f", "B()"))
    assert summarize(found) == [(made, "device", "")]


@pytest.mark.parametrize(
    ("caller", "call", "expected"),
    [
        ("make(3)", "make(3)", [("make(3)", None, "device"), INNER]),
        ("make(3, d)", "make(3, d)", [("make(3, d)", "d", ""), INNER]),
        ("make(device=d, n=3)", "make(device=d, n=3)", [("make(device=d, n=3)", "d", ""), INNER]),
        ("make(3, **options)", "make(3, **options)", [INNER]),
        ("cached(3)", "cached(3)", [INNER]),
        ("helpers.make(3)", "helpers.make(3)", [("helpers.make(3)", None, "device"), INNER]),
    ],
)
def test_a_parameter_leads_to_the_caller(caller: str, call: str, expected: list[object]) -> None:
    files = {"main.py": f"{MAKE}def f(x):\n    mask = {caller}\n"}
    assert summarize(find_sources(files, ("main.py", "make", ZEROS), ("main.py", "f", call))) == expected


@pytest.mark.parametrize(
    ("made", "call"),
    [
        ("torch.ones(n).to(device)", "torch.ones(n).to(device)"),
        ("torch.triu(torch.ones(n)).to(device).float()", "torch.triu(torch.ones(n)).to(device)"),
        ("net(torch.ones(n)).to(device)", "torch.ones(n)"),
        ("x.to(torch.ones(n), device)", "torch.ones(n)"),
    ],
)
def test_a_move_that_moves_nothing_chose_the_device(made: str, call: str) -> None:
    files = {"main.py": f"import torch\ndef make(n, device='cpu'):\n    return {made}\ndef f(x):\n    mask = make(3)\n"}
    every = find_sources(files, ("main.py", "make", "torch.ones(n)"), ("main.py", "f", "make(3)"))
    is_chosen = call != "torch.ones(n)"
    expected = [("make(3)", None, "device"), (call, "device", "")] if is_chosen else [(call, None, "")]
    assert summarize(every) == expected


def test_the_first_parameter_may_be_the_device() -> None:
    files = {"main.py": "def make(device=None):\n    return torch.zeros(3, device=device)\ndef f(x):\n    make(d)\n"}
    zeros = ("main.py", "make", "torch.zeros(3, device=device)")
    assert summarize(find_sources(files, zeros, ("main.py", "f", "make(d)")))[0] == ("make(d)", "d", "")


def test_a_function_is_known_by_its_import_too() -> None:
    files = {"helpers.py": MAKE, "main.py": "from helpers import make as m\ndef f(x):\n    mask = m(3, d)\n"}
    calls = (("helpers.py", "make", ZEROS), ("main.py", "f", "m(3, d)"))
    assert summarize(find_sources(files, *calls)) == [("m(3, d)", "d", ""), INNER]


@pytest.mark.parametrize("body", ["device = pick(device)\n    return ", "return other or "])
def test_what_a_body_decides_itself_ends_there(body: str) -> None:
    files = {"main.py": f"def make(n, device=None):\n    {body}{ZEROS}\ndef f(x):\n    mask = make(3)\n"}
    every = find_sources(files, ("main.py", "make", ZEROS), ("main.py", "f", "make(3)"))
    assert summarize(every) == ([INNER] if "pick" in body else [("make(3)", None, "device"), INNER])


def test_a_device_that_is_spelt_out_ends_there() -> None:
    files = {"main.py": "def make(n):\n    return torch.zeros(n, device='cpu')\ndef f(x):\n    make(3)\n"}
    every = find_sources(files, ("main.py", "make", "torch.zeros(n, device='cpu')"), ("main.py", "f", "make(3)"))
    assert summarize(every) == [("torch.zeros(n, device='cpu')", "'cpu'", "")]


def test_so_does_a_name_of_the_module() -> None:
    files = {"main.py": f"device = 1\nn = 1\nmask = {ZEROS}\nmake(3)\n"}
    assert summarize(find_sources(files, ("main.py", "<module>", ZEROS), ("main.py", "<module>", "make(3)"))) == [INNER]


CLASS = """class Model(Base):
    def {name}({own}n, device=None):
        return {body}
"""


@pytest.mark.parametrize(
    ("name", "own", "call"),
    [
        ("make", "self, ", "self.make(3, d)"),
        ("make", "cls, ", "Model.make(3, d)"),
        ("__init__", "self, ", "Model(3, d)"),
        ("__init__", "self, ", "nets.Model(3, d)"),
        ("__init__", "self, ", "M(3, d)"),
        ("__init__", "self, ", "super().__init__(3, d)"),
        ("forward", "self, ", "self.body(3, d)"),
        ("__call__", "self, ", "model(3, d)"),
    ],
)
def test_methods_are_not_passed_their_object(name: str, own: str, call: str) -> None:
    files = {
        "nets.py": CLASS.format(name=name, own=own, body=ZEROS),
        "main.py": f"from nets import Model as M\ndef f(x):\n    mask = {call}\n",
    }
    every = find_sources(files, ("nets.py", f"Model.{name}", ZEROS), ("main.py", "f", call))
    assert summarize(every) == [(call, "d", ""), INNER]


def test_a_method_is_not_called_by_the_name_of_its_class() -> None:
    files = {"nets.py": CLASS.format(name="make", own="self, ", body=ZEROS), "main.py": "def f(x):\n    Model(3, d)\n"}
    assert summarize(find_sources(files, ("nets.py", "Model.make", ZEROS), ("main.py", "f", "Model(3, d)"))) == [INNER]
    files = {"main.py": f"def __init__(n, device=None):\n    {ZEROS}\ndef f(x):\n    __init__(3, d)\n"}
    every = find_sources(files, ("main.py", "__init__", ZEROS), ("main.py", "f", "__init__(3, d)"))
    assert summarize(every) == [("__init__(3, d)", "d", ""), INNER]


def test_static_methods_and_functions_in_methods_have_no_object() -> None:
    text = CLASS.format(name="make", own="", body=ZEROS).replace("    def", "    @staticmethod\n    def")
    files = {"nets.py": text, "main.py": "def f(x):\n    mask = Model.make(3, d)\n"}
    calls = (("nets.py", "Model.make", ZEROS), ("main.py", "f", "Model.make(3, d)"))
    assert summarize(find_sources(files, *calls)) == [("Model.make(3, d)", "d", ""), INNER]


def test_another_class_is_not_looked_through() -> None:
    files = {"nets.py": CLASS.format(name="__init__", own="self, ", body=ZEROS), "main.py": "def f(x):\n    Net(3)\n"}
    assert summarize(find_sources(files, ("nets.py", "Model.__init__", ZEROS), ("main.py", "f", "Net(3)"))) == [INNER]


def test_the_object_itself_is_no_device_that_is_passed() -> None:
    files = {"main.py": "class T:\n    def at(self, n):\n        return n.to(self)\ndef f(x):\n    t.at(x)\n"}
    every = find_sources(files, ("main.py", "T.at", "n.to(self)"), ("main.py", "f", "t.at(x)"))
    assert summarize(every) == [("n.to(self)", "self", "")]


def test_foreign_places_and_those_without_a_call_are_passed_over() -> None:
    source = Sources({"main.py": MAKE.encode()}.get)
    failure = meeting("x + mask", "x + mask")[0].failure
    foreign = SourceLocation("/torch/f.py", 3)
    places = [place(MAKE, "n"), foreign, place(MAKE, ZEROS, "make"), replace(place(MAKE, ZEROS), path="gone.py")]
    (one,) = device_sources(failure, places, source)
    assert summarize([one]) == [INNER]
    assert device_sources(failure, [foreign], source) == []


def changed(every: list[DeviceSource], device: str = "x.device") -> tuple[str, str]:
    made = replace_device_name(every[0], device)
    return (made.title, after(made)) if made is not None else ("", "")


def test_the_device_is_passed_on_in_every_call_alike() -> None:
    lines = ["make(3)", "make(4, d)", "make(5)", "make(6, device=d)", "make(**k)", "make(device=d)", "take(3)"]
    body = "".join(f"    {each}\n" for each in lines)
    code = f"{MAKE}def f(x):\n{body}def g():\n    make(3)\n"
    every = find_sources({"main.py": code}, ("main.py", "make", ZEROS), ("main.py", "f", "make(3)"))
    title, text = changed(every)
    assert title == "Pass `x.device` on to `make`"
    passed = body.replace("make(3)", "make(3, device=x.device)").replace("make(5)", "make(5, device=x.device)")
    assert text == code.replace(body, passed)


def test_the_device_is_named_in_every_call_alike() -> None:
    lines = [
        "zeros(1, device=d)",
        "zeros(2, device=d)",
        "ones(2, device=d)",
        "zeros(3, device=e)",
        "zeros(4, 5, device=d)",
    ]
    code = "def f(x):\n" + "".join(f"    torch.{each}\n" for each in lines)
    every = find_sources({"main.py": code}, ("main.py", "f", "torch.zeros(1, device=d)"))
    title, text = changed(every)
    assert title == "Name the device `x.device` in `torch.zeros`"
    assert text == code.replace("zeros(1, device=d)", "zeros(1, device=x.device)").replace(
        "zeros(2, device=d)", "zeros(2, device=x.device)"
    )
    assert changed(every, "d") == ("", "")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("x.cuda()", "x.to(y.device)"),
        ("x.cuda(0)", "x.to(y.device)"),
        ("torch.zeros(3)", "torch.zeros(3, device=y.device)"),
        ("(torch\n    .zeros)(3)", "(torch\n    .zeros)(3, device=y.device)"),
        ("x.to('cuda', torch.half)", "x.to(y.device, torch.half)"),
    ],
)
def test_a_call_alone_is_given_the_device(call: str, expected: str) -> None:
    code = f"def f(x, y):\n    z = {call}\n"
    title, text = changed(find_sources({"main.py": code}, ("main.py", "f", call)), "y.device")
    assert text == code.replace(call, expected)
    assert "(torch\n" not in call or title == "Name the device `y.device` in `(torch .zeros)`"


def test_of_the_module_only_calls_of_the_module_are_alike() -> None:
    code = "a = torch.zeros(1, device=d)\nb = torch.zeros(2, device=d)\ndef f():\n    torch.zeros(1, device=d)\n"
    every = find_sources({"main.py": code}, ("main.py", "<module>", "torch.zeros(1, device=d)"))
    assert changed(every)[1] == code.replace("device=d)\nb", "device=x.device)\nb").replace(
        "device=d)\ndef", "device=x.device)\ndef"
    )


def test_changes_begin_where_it_was_decided() -> None:
    code = f"x = None\n{MAKE}def f(x, y, z, w):\n    make(3)\n"
    scope = tuple(replace(X, expression=name) for name in ("x", "y", "z", "w"))
    diagnosis, every = diagnose_calls(
        {"main.py": code}, ("main.py", "make", ZEROS), ("main.py", "f", "make(3)"), scope=scope
    )
    titles = [each.title for each in change_device_sources(diagnosis, every)]
    assert titles == [
        "Pass `x.device` on to `make`",
        "Pass `y.device` on to `make`",
        "Pass `z.device` on to `make`",
        "Name the device `x.device` in `torch.zeros`",
    ]
    assert [each.reason for each in change_device_sources(diagnosis, every, "So.")] == ["So."] * 4
    assert [each.reason for each in change_device_sources(diagnosis, every)] == [""] * 4
    assert list(change_device_sources(diagnosis, [])) == []


def test_one_of_two_parameters_is_not_replaced_by_the_other() -> None:
    """A caller that passes two devices means both of them."""
    moved = "self.to(one)"
    code = f"x = None\ndef f(self, x, one, other):\n    {moved}\n    self.last.to(other)\n"
    scope = (ScopeVariable("other", "device", "cuda:0"), X)
    diagnosis, every = diagnose_calls({"main.py": code}, ("main.py", "f", moved), scope=scope)
    assert [each.title for each in change_device_sources(diagnosis, every)] == [
        "Name the device `x.device` in `self.to`"
    ]
    own = code.replace("x, one, other", "x, other").replace("    self.to", "    one = 'cpu'\n    self.to")
    diagnosis, every = diagnose_calls({"main.py": own}, ("main.py", "f", moved), scope=scope)
    assert "Name the device `other` in `self.to`" in [each.title for each in change_device_sources(diagnosis, every)]


def test_where_a_default_decided_it_the_innermost_comes_first() -> None:
    code = f"x = None\n{MAKE}def f(x, device=None):\n    make(3, device)\n"
    calls = (("main.py", "make", ZEROS), ("main.py", "f", "make(3, device)"))
    diagnosis, every = diagnose_calls({"main.py": code}, *calls)
    assert [each.title for each in change_device_sources(diagnosis, every)] == [
        "Name the device `x.device` in `torch.zeros`",
        "Name the device `x.device` in `make`",
    ]
    assigned = code.replace("    make(3", "    device = 1\n    make(3")
    diagnosis, every = diagnose_calls({"main.py": assigned}, *calls)
    assert (
        next(each.title for each in change_device_sources(diagnosis, every)) == "Name the device `x.device` in `make`"
    )


@pytest.mark.parametrize(
    ("name", "passed"), [("x", False), ("device", True), ("y", False), ("k", True), ("rest", False)]
)
def test_a_parameter_is_passed_in_where_the_body_never_assigns_it(name: str, passed: bool) -> None:
    file = main("def f(x, device=d, *rest, k=1):\n    x = x.to(device)\n    y = 1\n")
    assert is_passed_in(file, definition(file, "f"), name) is passed  # type: ignore[arg-type]
