"""Nodes are replaced wherever they are, also inside of each other; what cannot be replaced is an error."""

from __future__ import annotations

import libcst as cst
import pytest

from devfix.sdk import File, add_keyword, expression, move_to, rewrite

CODE = b"y = f(g(x), h(x))\n"


def node(file: File, text: str, number: int = 0) -> cst.BaseExpression:
    return file.find(file.module, text)[number]


def test_a_node_inside_a_replaced_one_is_replaced_in_its_replacement() -> None:
    file = File("m.py", CODE)
    outer, inner, name = node(file, "f(g(x), h(x))"), node(file, "g(x)"), node(file, "x")
    assert isinstance(outer, cst.Call) and isinstance(inner, cst.Call)
    changes = {
        outer: add_keyword(outer, "device", "d"),
        inner: add_keyword(inner, "device", "d"),
        name: cst.Name("z"),
    }
    for order in (changes, dict(reversed(changes.items()))):
        assert file.replace(order).code == "y = f(g(z, device=d), h(x), device=d)\n"


def test_a_replacement_may_contain_the_node_itself_and_what_is_replaced_below_it() -> None:
    file = File("m.py", CODE)
    call, name = node(file, "h(x)"), node(file, "x", 1)
    assert file.replace({call: move_to(call, "d"), name: move_to(name, "e")}).code == "y = f(g(x), h(x.to(e)).to(d))\n"


def test_two_nodes_may_change_places() -> None:
    file = File("m.py", CODE)
    first, second = node(file, "g(x)"), node(file, "h(x)")
    assert file.replace({first: second, second: first}).code == "y = f(h(x), g(x))\n"


def test_statements_may_be_removed_or_become_several() -> None:
    file = File("m.py", b"a()\nb()\nc(x)\n")
    first, second, third = file.module.body
    new = {
        first: cst.RemoveFromParent(),
        second: cst.FlattenSentinel([cst.parse_statement("d()\n"), third]),
        node(file, "x"): cst.Name("y"),
    }
    assert file.replace(new).code == "d()\nc(x)\nc(y)\n"  # type: ignore[arg-type]


def test_what_a_replacement_no_longer_contains_is_an_error() -> None:
    file = File("m.py", CODE)
    with pytest.raises(
        ValueError, match=r"^m.py: `x` is not replaced, since .* around it, `g\(x\)`, does not contain it"
    ):
        file.replace({node(file, "g(x)"): expression("g(x)"), node(file, "x"): cst.Name("y")})


@pytest.mark.parametrize("other", ["another file", "the same file again", "a new node", "an edited copy"])
def test_a_node_that_the_file_does_not_have_is_an_error(other: str) -> None:
    file = File("m.py", CODE)
    copy = file.replace({node(file, "h(x)"): expression("k(x)")})
    strange = {
        "another file": lambda: node(File("n.py", b"x\n"), "x"),
        "the same file again": lambda: node(File("m.py", CODE), "x"),
        "a new node": lambda: cst.Name("x"),
        "an edited copy": lambda: cst.ensure_type(copy.body[0], cst.SimpleStatementLine).body[0],
    }[other]()
    with pytest.raises(ValueError, match=r"^m.py has no node `.+`: replace nodes that this File returned"):
        list(rewrite(file, {strange: cst.Name("z")}, "Rename it"))
