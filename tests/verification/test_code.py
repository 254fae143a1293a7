"""The files of a repository for static checks."""

from __future__ import annotations

import ast

from devfix.verification.objections.code import Code, Function, functions

FILES = {
    "net.py": b"class Net:\n    def forward(self, x):\n        return x\n\ndef forward(x):\n    return x\n",
    "use.py": b"def use(net):\n    def inner(x):\n        return net.forward(x)\n    return inner\n\nuse(Net())\n",
    "top.py": b"from net import forward\nprint(forward(1), net.forward(2))\n",
}


def _code(read: list[str]) -> Code:
    def contents(path: str) -> bytes | None:
        read.append(path)
        return FILES.get(path)

    return Code(
        {}, contents, lambda texts: [path for path in FILES if any(each.encode() in FILES[path] for each in texts)]
    )


def _function(owner: str) -> Function:
    found = functions(ast.parse(FILES["net.py"]))
    return next(each for holder, _, each in found if isinstance(each, Function) and holder == owner)


def test_callers_of_a_method_are_searched_where_it_is_called_on_something() -> None:
    read: list[str] = []
    assert [(path, each.name) for path, each in _code(read).callers(_function("Net"))] == [
        ("top.py", "<module>"),
        ("use.py", "use"),
        ("use.py", "inner"),
    ]
    assert "net.py" not in read


def test_callers_of_a_function() -> None:
    read: list[str] = []
    code = _code(read)
    found = {path for path, _ in code.callers(_function(""))}
    assert found == {"top.py", "use.py"}
    assert {path for path, _ in code.callers(_function(""))} == found
    assert sorted(read) == sorted(FILES)


def test_nodes_have_their_class_and_function() -> None:
    found = [
        (owner, outer.name if outer else "", each.name)
        for owner, outer, each in functions(ast.parse(FILES["use.py"]))
        if isinstance(each, Function)
    ]
    assert found == [("", "", "use"), ("", "use", "inner")]
