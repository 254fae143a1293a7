"""What a dictionary or a list holds is moved where the whole of it is handed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from mismatch_factory import after, meeting, place, tensor, use_site

from devfix.model import Diagnosis, NameRef, ScopeVariable, SourceLocation
from devfix.sdk import Change, FixSite, Sources
from devfix.sdk.fixes.container import move_container, move_list
from devfix.sdk.fixes.factories import add_device_argument

Move = Callable[[Diagnosis, FixSite, Sources], Iterator[Change]]
EACH = "{name} = {{key: value.to(x.device) for key, value in {name}.items()}}"
WHOLE = "{name} = {name}.to(x.device)"


def lines(code: str, failing: str, *expressions: str) -> list[str]:
    """The lines that moves of a dictionary add, each with the number of the line in front of which it stands."""
    diagnosis, source = meeting(code, failing)
    found = []
    for each in move_container(diagnosis, use_site(diagnosis, *expressions), source):
        before, made = code.splitlines(), after(each).splitlines()
        at = next(number for number, line in enumerate(made) if line != before[number])
        assert made[:at] + made[at + 1 :] == before
        found.append(f"{at + 1}: {made[at].strip()}")
    return found


def moves(*names: str, line: int, plain: bool = False) -> list[str]:
    order = [EACH, WHOLE] if plain else [WHOLE, EACH]
    return [f"{line}: {each.format(name=name)}" for name in names for each in order]


@pytest.mark.parametrize(("made", "plain"), [("{'a': x}", True), ("{k: x for k in x}", True), ("tokens(x)", False)])
def test_what_a_dictionary_holds_is_moved_in_front_of_the_call(made: str, plain: bool) -> None:
    code = f"def f(x):\n    batch = {made}\n    return g(**batch)\n"
    assert lines(code, "g(**batch)", 'batch["a"]') == moves("batch", line=3, plain=plain)
    assert lines(code.replace("**", ""), "g(batch)", 'batch["a"]', 'batch["b"]') == moves("batch", line=3, plain=plain)
    # An element of an element is handed on with the whole as well.
    assert lines(code, "g(**batch)", 'batch["a"]["b"]') == moves("batch", line=3, plain=plain)


def test_a_dictionary_of_the_module_is_moved_too() -> None:
    code = "x = make()\nbatch = tokens(x)\ng(**batch)\n"
    assert lines(code, "g(**batch)", 'batch["a"]') == moves("batch", line=3)


def test_it_is_moved_once_and_not_once_a_turn() -> None:
    code = "def f(x):\n    batch = tokens(x)\n    for n in range(3):\n        g(n, **batch)\n"
    assert lines(code, "g(n, **batch)", 'batch["a"]') == moves("batch", line=3)
    turned = code.replace("range(3)", "x").replace("    batch = tokens(x)\n    for n", "    for batch")
    assert lines(turned, "g(n, **batch)", 'batch["a"]') == moves("batch", line=3)
    # The device that it is moved to is another one each turn.
    each = code.replace("n in range(3)", "x in data").replace("(n, ", "(x, ").replace("f(x)", "f(data)")
    assert lines(each.replace("tokens(x)", "tokens()"), "g(x, **batch)", 'batch["a"]') == moves("batch", line=4)


@pytest.mark.parametrize(
    ("code", "expression"),
    [
        # Whoever made a parameter knows what else it holds.
        ("def f(x, batch):\n    return g(**batch)\n", 'batch["a"]'),
        ("def f(self, x):\n    return g(**self.batch)\n", 'self.batch["a"]'),
        ("def f(x):\n    batch = tokens(x)\n    return g(batch['a'])\n", 'batch["a"]'),
        ("def f(x):\n    batch = tokens(x)\n    return g(**batch)\n", "batch[0]"),
        ("def f(x):\n    if x: return g(**batch)\n", 'batch["a"]'),
    ],
)
def test_what_else_is_read_is_left_alone(code: str, expression: str) -> None:
    failing = code[code.index("g(") :].strip()
    assert lines(code, failing, expression) == []


def test_each_of_several_dictionaries_is_tried() -> None:
    code = "def f(x, given):\n    batch = tokens(x)\n    last = tokens(x)\n    return g(batch, given, last)\n"
    names = ('self.kept["a"]', 'absent["a"]', 'given["a"]', 'batch["a"]', 'last["a"]')
    assert lines(code, "g(batch, given, last)", *names) == moves("batch", "last", line=4)


def test_where_one_device_is_of_no_use_the_next_is_tried() -> None:
    code = "def f(x, y):\n    batch = tokens(y)\n    for x in y: g(x, **batch)\n"
    diagnosis, source = meeting(code, "g(x, **batch)", scope=[tensor("y", "cuda:0")])
    made = [after(each) for each in move_container(diagnosis, use_site(diagnosis, 'batch["a"]'), source)]
    lines = [each.format(name="batch").replace("x.device", "y.device") for each in (WHOLE, EACH)]
    assert made == [code.replace("    for", f"    {each}\n    for") for each in lines]


@pytest.mark.parametrize(
    ("given", "expression", "is_moved"),
    [
        ("parts", "parts[1]", True),
        ("parts", "whole[1]", False),
        ("self.parts", "x", True),
        ("self.parts[i]", "x", True),
        ("self.parts()", "x", False),
    ],
)
def test_the_elements_of_a_list_are_moved_to_the_first(given: str, expression: str, is_moved: bool) -> None:
    code = f"def f(self, x, parts, i):\n    return torch.cat({given}, 0)\n"
    diagnosis, source = meeting(code, f"torch.cat({given}, 0)")
    made = [after(each) for each in move_list(diagnosis, use_site(diagnosis, expression), source)]
    moved = f"[each.to({given}[0].device) for each in {given}]"
    assert made == ([code.replace(f"cat({given}", f"cat({moved}")] if is_moved else [])


@pytest.mark.parametrize("move", [move_container, move_list, add_device_argument])
def test_nothing_is_moved_in_files_that_must_stay_as_they_are(move: Move) -> None:
    code = "# The first line.\ndef f(x):\n    batch = zeros(3)\n    return g(**batch)\n"
    diagnosis, source = meeting(code, "g(**batch)")
    site = use_site(diagnosis, 'batch["a"]')
    calls = (
        SourceLocation("torch/f.py", 3),
        SourceLocation("main.py", 1, "f", owned=True),
        replace(place(code, "g(**batch)"), path="x.py"),
    )
    for each in calls:
        assert list(move(diagnosis, replace(site, place=each), source)) == []


@pytest.mark.parametrize(("call", "moved"), [("net(**tokens(x))", True), ("net(ids=ids, **tokens(x))", False)])
def test_what_a_dictionary_without_a_name_holds_is_moved_in_the_call(call: str, moved: bool) -> None:
    code = f"def net(ids):\n    return x + ids\ndef f(x, ids):\n    return {call}\n"
    diagnosis, source = meeting(code, "x + ids", name="ids", function="net")
    failing = replace(diagnosis.failure.frames[0], scope=(tensor("ids"),))
    outer = replace(failing, place=place(code, call), scope=(tensor("x", "cuda:0"),))
    operand = replace(diagnosis.failure.operands[1], names=(NameRef(1, "ids"),))
    operands = (diagnosis.failure.operands[0], operand)
    failure = replace(diagnosis.failure, frames=(outer, failing), operands=operands)
    site = FixSite("argument", outer.place, outer.scope, (), 0)
    found = [after(each) for each in move_container(replace(diagnosis, failure=failure), site, source)]
    expected = ["tokens(x).to(x.device)", "{key: value.to(x.device) for key, value in tokens(x).items()}"]
    assert found == [code.replace("tokens(x)", each) for each in expected] * moved


@pytest.mark.parametrize(
    ("imported", "asked"), [("import torch\n", "isinstance(value, torch.Tensor)"), ("", 'hasattr(value, "to")')]
)
def test_what_a_list_of_dictionaries_holds_is_moved_first(imported: str, asked: str) -> None:
    code = f"{imported}def f(x, data):\n    for targets in data:\n        net(x, targets)\n"
    line = imported.count("\n") + 3
    each = f"{line}: targets = [{{key: value.to(x.device)MIXED for key, value in each.items()}} for each in targets]"
    names = 'targets[0]["boxes"]', 'targets[1]["boxes"]'
    assert lines(code, "net(x, targets)", *names)[0] == each.replace("MIXED", "")
    diagnosis, source = meeting(code, "net(x, targets)")
    site = use_site(diagnosis, *names)
    mixed = [ScopeVariable(f"targets[{number}]", "container", "", "dict") for number in range(2)]
    made = next(move_container(diagnosis, replace(site, scope=(*site.scope, *mixed)), source))
    assert f"value.to(x.device) if {asked} else value for key, value in each.items()" in after(made)


def test_a_dictionary_beside_a_list_of_dictionaries_is_moved_as_before() -> None:
    code = "def f(x):\n    batch = tokens(x)\n    return g(batch)\n"
    assert lines(code, "g(batch)", 'batch["a"]', 'batch[0]["a"]') == moves("batch", line=3)


def test_what_else_a_dictionary_holds_is_kept() -> None:
    code = "import torch\ndef f(x):\n    batch = tokens(x)\n    return g(**batch)\n"
    diagnosis, source = meeting(code, "g(**batch)")
    site = use_site(diagnosis, 'batch["a"]')
    site = replace(site, scope=(*site.scope, ScopeVariable("batch", "container", "", "dict")))
    whole, each = [after(found) for found in move_container(diagnosis, site, source)]
    moved = "{key: value.to(x.device) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}"
    assert each == code.replace("    return", f"    batch = {moved}\n    return")
    assert whole == code.replace("    return", "    batch = batch.to(x.device)\n    return")


@pytest.mark.parametrize(
    ("given", "over", "held", "is_moved"),
    [
        ("g(a) for a in rows", "rows", (), True),
        ("g(a, b) for a, b in zip(parts, rows)", "rows", ("rows[0]",), True),
        ("g(a, b) for a, b in zip(parts, rows)", "parts", ("rows[0]",), False),
    ],
)
def test_what_a_sum_adds_is_moved_to_where_the_first_comes_from(
    given: str, over: str, held: tuple[str, ...], is_moved: bool
) -> None:
    code = f"def f(rows, parts):\n    return sum({given})\n"
    diagnosis, source = meeting(code, f"sum({given})", scope=[tensor(each, "cuda:0") for each in held])
    found = [after(each) for each in move_list(diagnosis, use_site(diagnosis), source)]
    made = given.partition(" for")[0]
    assert (code.replace(made, f"{made}.to({over}[0].device)", 1) in found) is is_moved
