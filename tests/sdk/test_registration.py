"""Plain containers of modules or parameters: the container that registers them, if their use and the keys allow one."""

from __future__ import annotations

import pytest
import torch

from devfix.sdk import (
    File,
    Sources,
    assignments,
    code,
    loads_strictly,
    module_container,
    modules_of,
    parameter_container,
    takes_modules,
)
from devfix.sdk.fixes.registration import TAKEN


def value_of(value: str) -> str:
    file = File("m.py", f"from torch import nn\nx = {value}\n".encode())
    found = assignments(file, "x")[0].value
    assert found is not None
    call = module_container(file, found)
    return code(call) if call is not None else ""


@pytest.mark.parametrize(
    ("value", "container"),
    [
        ('{"val": A(), "test": B()}', 'nn.ModuleDict({"val": A(), "test": B()})'),
        ("[A(), B()]", "nn.ModuleList([A(), B()])"),
        ("[A() for _ in r]", "nn.ModuleList([A() for _ in r])"),
        ("[[A() for _ in r] for _ in q]", "nn.ModuleList([nn.ModuleList([A() for _ in r]) for _ in q])"),
        ('{"a": {"b": A()}, "c": [B()]}', 'nn.ModuleDict({"a": nn.ModuleDict({"b": A()}), "c": nn.ModuleList([B()])})'),
        ("{k: [A()] for k in ks}", "nn.ModuleDict({k: nn.ModuleList([A()]) for k in ks})"),
        ("dict(a=A(), b=[B()])", "nn.ModuleDict(dict(a=A(), b=nn.ModuleList([B()])))"),
        ("list(parts)", "nn.ModuleList(parts)"),
        ("[]", "nn.ModuleList()"),
        ("{}", "nn.ModuleDict()"),
        ('{"train": A()}', ""),
        ('{"a.b": A()}', ""),
        ('{"": A()}', ""),
        ("{1: A()}", ""),
        ('{"a": {"keys": A()}}', ""),
        ("make()", ""),
    ],
)
def test_the_container_that_registers_what_one_holds(value: str, container: str) -> None:
    assert value_of(value) == container


def test_a_file_that_cannot_write_the_name_gets_none() -> None:
    file = File("m.py", b"x = [A()]\n")
    value = assignments(file, "x")[0].value
    assert value is not None and module_container(file, value) is None and modules_of(file, value, "x") == ""


def test_the_keys_that_are_refused_are_those_that_torch_refuses() -> None:
    taken = [name for name in dir(torch.nn.ModuleDict()) if not name.startswith("_")]
    assert [name for name in taken if not TAKEN.fullmatch(name)] == []


@pytest.mark.parametrize(
    ("value", "listed"),
    [
        ('{"train": A()}', "nn.ModuleList(self.x.values())"),
        ("[A() for _ in r]", "nn.ModuleList(self.x)"),
        ("[]", ""),
        ("dict()", ""),
        ('{"a": [A()]}', ""),
    ],
)
def test_a_list_of_the_modules_beside_their_container(value: str, listed: str) -> None:
    file = File("m.py", f"from torch import nn\nx = {value}\n".encode())
    found = assignments(file, "x")[0].value
    assert found is not None and modules_of(file, found, "self.x") == listed


@pytest.mark.parametrize(
    ("use", "allowed"),
    [
        ("self.x['a'](y)", True),
        ("[f(y) for f in self.x.values()]", True),
        ("'a' in self.x", True),
        ("self.x.append(y)", True),
        ("self.x.get('a')(y)", False),
        ("self.x + [y]", False),
        ("self.x == y", False),
        ("isinstance(self.x, dict)", False),
        ("self.x.index(y)", False),
    ],
)
def test_a_use_that_only_lists_and_dictionaries_have_speaks_against_it(use: str, allowed: bool) -> None:
    file = File("m.py", f"class A:\n    def f(self, y):\n        return {use}\n".encode())
    (holder,) = file.module.body
    assert takes_modules(file, holder, "self.x") is allowed  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "strict"),
    [
        ("model.load_state_dict(torch.load(path))", True),
        ("model.load_state_dict(state, strict=False)", False),
        ("model.load_state_dict(state, False)", False),
        ("optimizer.load_state_dict(state)", False),
        ("self.lr_scheduler.load_state_dict(state)", False),
        ("Task.load_from_checkpoint(path)", True),
        ("print(path)", False),
    ],
)
def test_state_dicts_that_are_loaded_strictly(line: str, strict: bool) -> None:
    files = {"resume.py": f"{line}\n".encode(), "main.py": b"x = 1\n"}

    def search(texts: object) -> list[str]:
        return [path for path, data in files.items() if any(text.encode() in data for text in texts)]  # type: ignore[attr-defined]

    assert loads_strictly(Sources(files.get, search)) is strict


@pytest.mark.parametrize(
    ("value", "container"),
    [
        ("{}", "nn.ParameterDict()"),
        ("list()", "nn.ParameterList()"),
        ("[nn.Parameter(ones(2)) for _ in r]", "nn.ParameterList([nn.Parameter(ones(2)) for _ in r])"),
        ("{k: nn.Parameter(ones(2)) for k in ks}", "nn.ParameterDict({k: nn.Parameter(ones(2)) for k in ks})"),
        ("dict(w=nn.Parameter(ones(2)))", "nn.ParameterDict(dict(w=nn.Parameter(ones(2))))"),
        ("[made, nn.Parameter(ones(2))]", "nn.ParameterList([made, nn.Parameter(ones(2))])"),
        ("[nn.Parameter(ones(2)), ones(2)]", ""),  # a ParameterList would make a parameter of the other
        ("[changed]", ""),
        ("[unknown]", ""),
        ("list(given)", ""),
        ("dict(given)", ""),
        ("dict(**given)", ""),
        ("{**given, 'w': made}", ""),
        ("[[made]]", ""),
        ("{'a.b': made}", ""),
        ("{'values': made}", ""),
        ("{1: made}", ""),
        ("make()", ""),
    ],
)
def test_a_container_of_new_parameters_becomes_one_that_registers_them(value: str, container: str) -> None:
    given = "made = nn.Parameter(ones(2))\nchanged = nn.Parameter(ones(2))\nchanged = ones(2)"
    file = File("m.py", f"from torch import nn, ones\n{given}\nx = {value}\n".encode())
    found = assignments(file, "x")[0].value
    assert found is not None
    call = parameter_container(file, found)
    assert (code(call) if call is not None else "") == container


def test_no_container_of_parameters_is_made_where_the_file_does_not_import_nn() -> None:
    file = File("m.py", b"from torch.nn import Parameter\nx = [Parameter(y)]\n")
    found = assignments(file, "x")[0].value
    assert found is not None and parameter_container(file, found) is None
