"""What writes into a tensor that others hold, where a move in front would run once, and what a copy stands for."""

from __future__ import annotations

import libcst as cst
import pytest
from mismatch_factory import main

from devfix.sdk import outside_loops
from devfix.sdk.fixes.moved_once import assign_locally
from devfix.source import File
from devfix.source.queries.writes import is_alone, is_written, is_written_below, what_is_written


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("t[0] = 1", True),
        ("t[0][1] = 1", True),
        ("t.data[0] = 1", True),
        ("t.T[0] = 1", True),
        ("t.x[0] = 1", False),
        ("u[0] = t", False),
        ("t += 1", True),
        ("t[0] += 1", True),
        ("t.data += 1", True),
        ("u += t", False),
        ("u[0] += t", False),
        ("t.add_(1)", True),
        ("t[0].add_(1)", True),
        ("t.__setstate__(1)", False),
        ("t.add(1)", False),
        ("u.add_(t)", False),
        ("f(1, out=t)", True),
        ("f(out=u)", False),
        ("f(other=t)", False),
        ("f(t)", False),
        ("g = u.v[0] = t", False),
        ("pass", False),
    ],
)
def test_what_writes_into_a_name(line: str, written: bool) -> None:
    file = main(f"def f(t, u):\n    use\n    {line}\n")
    assert is_written_below(file, file.find(file.module, "use")[0], "t") is written


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("nn.init.zeros_(t)", True),
        ("F.relu_(t.data)", True),
        ("relu_(t)", True),
        ("relu_(u, t)", False),
        ("F.relu(t)", False),
        ("seed_()", False),
        ("u.copy_(t)", False),
        ("own_(t)", False),
        ("nn.Module.__init__(t)", False),
    ],
)
def test_a_function_of_a_module_writes_into_what_it_is_given(line: str, written: bool) -> None:
    head = "import torch.nn.functional as F\nfrom torch import nn, relu_, seed_\ndef own_(t): pass\n"
    file = main(f"{head}def f(t, u):\n    use\n    {line}\n")
    assert is_written_below(file, file.find(file.module, "use")[0], "t") is written


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("def f(t):\n    t.add_(1)\n    use\n", False),
        ("def f(t):\n    t[use] = 1\n", True),
        ("def f(t):\n    h(\n        out=t,\n        b=use,\n    )\n", True),
        ("def f(u):\n    t = u\n    use\n    t.add_(1)\n", False),
        ("t = 1\ndef f():\n    use\n    t.add_(1)\n", True),
        ("def f(t):\n    use\ndef g(t):\n    t.add_(1)\n", False),
        ("use\nt.add_(1)\n", False),
    ],
)
def test_only_below_in_the_function_that_did_not_make_it(code: str, written: bool) -> None:
    file = main(code)
    assert is_written_below(file, file.find(file.module, "use")[0], "t") is written


BINDING = ["t = 1", "t: int = 1", "t += 1", "t.x = 1", "t[0] = 1", "(a, [t]) = 1", "if (t := 1): pass", "del t"]


@pytest.mark.parametrize("line", [*BINDING, "with open() as t: pass", "for t in u: pass"])
def test_a_loop_that_binds_a_name_is_not_left(line: str) -> None:
    file = main(f"for i in us:\n    for j in vs:\n        {line}\n        f(x, t)\n")
    node = file.find(file.module, "f(x, t)")[0]
    assert outside_loops(file, node, "t.weight") is file.statement_of(node)
    assert outside_loops(file, node, "x", "t") is file.statement_of(node)
    assert outside_loops(file, node, "x") is file.module.body[0]


def test_the_outermost_loop_that_binds_nothing_of_it() -> None:
    file = main("for i in us:\n    for j in vs:\n        f(x, i)\n")
    node = file.find(file.module, "f(x, i)")[0]
    assert outside_loops(file, node, "x", "i") is file.loops_around(node)[0]
    assert outside_loops(file, node, "x", "j") is file.statement_of(node)
    assert outside_loops(file, node) is file.module.body[0]
    assert outside_loops(file, node, "0") is file.module.body[0]
    file = main("for i in us:\n    if u:\n        f(x)\n")
    node = file.find(file.module, "f(x)")[0]
    assert outside_loops(file, node) is file.statement_of(node)


@pytest.mark.parametrize(
    ("body", "text", "leaves"),
    [
        ("if t is not None:\n        f(t)", "t", False),
        ("if tt:\n        f(t)", "t", True),
        ("if u:\n        f(t)", "t", True),
        ("if u:\n        f(t)", "t.weight", False),
        ("while u:\n        f(t)", "t.weight", True),
        ("f(t) if t else u", "t", False),
        ("f(t) if u else v", "t", True),
        ("if f(t):\n        pass", "t", True),
        ("if g(f(t)):\n        pass", "t", True),
        ("try:\n        f(t)\n    except E:\n        pass", "t.weight", False),
        ("try:\n        f(t)\n    except E:\n        pass", "t", True),
        ("match u:\n        case 1:\n            f(t)", "t.weight", False),
    ],
)
def test_nothing_leaves_a_branch_that_settles_whether_it_is_there(body: str, text: str, leaves: bool) -> None:
    file = main(f"for i in us:\n    {body}\n")
    node = file.find(file.module, "f(t)")[0]
    assert (outside_loops(file, node, text) is file.module.body[0]) is leaves


def test_a_branch_around_the_loop_settles_nothing_in_it() -> None:
    file = main("if t:\n    for i in us:\n        f(t)\n")
    node = file.find(file.module, "f(t)")[0]
    assert outside_loops(file, node, "t.weight") is file.loops_around(node)[0]


def copied(code: str, text: str = "self.table") -> str:
    file = main(code)
    found = assign_locally(file, file.find(file.module, text)[int(text.isupper())], text, "x.device")
    if found is not None:
        assert found.title == f"Move `{text}` to `x.device` once, before it is used"
    return found.edits[0].after.decode() if found is not None else ""


HEAD = "def f(self, x, xs):\n"
MOVE = "    table = self.table.to(x.device)\n"


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("    a = self.table\n    b = self.table + a\n", f"{MOVE}    a = table\n    b = table + a\n"),
        ("    for i in xs:\n        i(self.table)\n", f"{MOVE}    for i in xs:\n        i(table)\n"),
        (
            "    g(self.table, table=1)\n    return self.table.table\n",
            f"{MOVE}    g(table, table=1)\n    return table.table\n",
        ),
        (
            "    a = 1\n    if x:\n        b = self.table\n        c = self.table\n",
            f"    a = 1\n    if x:\n    {MOVE}        b = table\n        c = table\n",
        ),
    ],
)
def test_a_copy_stands_for_an_attribute(body: str, after: str) -> None:
    assert copied(HEAD + body) == HEAD + after


@pytest.mark.parametrize(
    "body",
    [
        "    a = self.table + self.table\n",
        "    a = self.table\n    self.table = b\n    c = self.table\n",
        "    a = self.table\n    self.table[0] = b\n    c = self.table\n",
        "    a = self.table\n    table = self.table\n",
        "    a = self.table\n    g(table)\n    c = self.table\n",
        "    if x:\n        a = self.table\n        c = self.table\n    return self.table\n",
        "    a = self.table\n    b = self.table\n    return lambda: self.table\n",
        "    for self in xs:\n        self.g(self.table)\n",
        "    for x in xs:\n        x.g(self.table)\n",
    ],
)
def test_else_no_copy_stands_for_it(body: str) -> None:
    assert copied(HEAD + body) == ""


def test_nor_for_a_name_an_element_or_something_of_the_module() -> None:
    assert copied("def f(t, x):\n    a = t\n    b = t\n", "t") == ""
    assert copied("def f(t, x):\n    a = t.u[0]\n    b = t.u[0]\n", "t.u[0]") == ""
    assert copied("a = self.table\nb = self.table\n") == ""
    assert copied("def f(self, x): a = self.table; b = self.table\n") == ""


def test_the_last_name_of_an_attribute_is_its_copy_s_and_other_functions_may_write_to_it() -> None:
    body = "    a = self.n.table\n    b = self.n.table\n"
    other = "def g(self):\n    self.n.table = 1\n"
    move = "    table = self.n.table.to(x.device)\n"
    assert copied(HEAD + body + other, "self.n.table") == f"{HEAD}{move}    a = table\n    b = table\n{other}"


def test_a_constant_of_the_file_gets_a_local_name() -> None:
    head, body = "LEVELS = make()\ndef f(x):\n", "    i = (x - LEVELS).argmin()\n    return LEVELS[i]\n"
    moved = "    levels = LEVELS.to(x.device)\n    i = (x - levels).argmin()\n    return levels[i]\n"
    assert copied(head + body, "LEVELS") == head + moved
    assert copied(head + body.replace("(x - LEVELS)", "x"), "LEVELS") == ""
    assert copied(head + f"    levels = 1\n{body}", "LEVELS") == ""
    assert copied(head + f"    LEVELS = g(x)\n{body}", "LEVELS") == ""
    assert copied((head + body).replace("LEVELS", "levels"), "levels") == ""


def test_what_stands_above_is_not_renamed() -> None:
    file = main(f"{HEAD}    a = self.table\n    b = self.table\n    c = self.table\n")
    found = assign_locally(file, file.find(file.module, "self.table")[1], "self.table", "x.device")
    assert found is not None
    assert found.edits[0].after.decode() == f"{HEAD}    a = self.table\n{MOVE}    b = table\n    c = table\n"


@pytest.mark.parametrize(
    ("lines", "written"),
    [
        ("t[0] = a(n)", ["a(n)"]),
        ("u = v = a(n); t[:, 1] = b(u)", ["b(u)", "a(n)"]),
        ("u, w = a(n); t[0] = u; t[1] = u * w", ["a(n)"]),
        ("u = a(n); t[0] = u; t[1] = b(t, u)", ["b(t, u)", "a(n)"]),
        ("u = a(n); w = u + 1; t[0] = w; return u", []),
        ("u = a(n); w = u + 1; t[0] = w; f(w)", []),
        ("u = n + 1; w = a(u); t[0] = w; return u", ["a(u)"]),
        ("u = a(n); t[0] = t[1] = u.n; f(u=1, v=x.u)", ["a(n)"]),
        ("t = a(n)", []),
        ("u[0] = a(n)", []),
        ("t.v[0] = a(n)", []),
    ],
)
def test_what_a_function_writes_into_its_own(lines: str, written: list[str]) -> None:
    file = File("m.py", f"def f(n):\n    t = zeros(n); {lines}\n".encode())
    function = file.module.body[0]
    found = what_is_written(file, function, "t", lambda node: isinstance(node, cst.Call))  # type: ignore[arg-type]
    assert [file.code(each) for each in found] == written


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("t = zeros(n)", True),
        ("t, u = zeros(n), n", True),
        ("t = zeros(n); g(t); return t, n", True),
        ("t = zeros(n); t = n[0]", False),
        ("t = n[0]", False),
        ("t, u = n", False),
        ("t = u = zeros(n)", False),
        ("t = zeros(n); self.t = t", False),
        ("t = zeros(n); u = [t]", False),
        ("t = zeros(n); u.append(t)", False),
        ("t = zeros(n); u = [t for t in n]", False),
        ("n = zeros(3)", False),
        ("pass", False),
    ],
)
def test_a_variable_that_alone_holds_what_was_made_for_it(lines: str, expected: bool) -> None:
    file = File("m.py", "def f(n):\n    {}\n".format(lines.replace("; ", "\n    ")).encode())
    node = file.module.body[0].body.body[-1]  # type: ignore[union-attr]
    assert is_alone(file, node, "n" if lines.startswith("n") else "t", ["zeros"]) is expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("for x in n:\n        USE\n    self.t = t", True),
        ("for x in n:\n        USE\n    rows[0] = t", True),
        ("for x in n:\n        USE\n    self.rows.append(t)", True),
        ("for x in n:\n        USE\n        self.rows.append(t)", False),
        ("for y in n:\n        for x in y:\n            USE\n        self.t = t", False),
        ("self.t = t\n    USE", False),
    ],
)
def test_what_holds_it_afterwards_holds_what_it_has_become(lines: str, expected: bool) -> None:
    file = File("m.py", f"def f(n):\n    t = zeros(n)\n    {lines}\n".encode())
    assert is_alone(file, file.find(file.module, "USE")[0], "t", ["zeros"]) is expected


def test_what_a_guard_itself_writes_is_no_later_write() -> None:
    file = main(
        "class A:\n    def f(self):\n        if self.t is None:\n            self.t = z\n            self.t[0] = 1\n"
    )
    guard = file.statement_of(file.find(file.module, "self.t")[0])
    assert guard is not None
    assert is_written(file, file.module, "self.t") and not is_written(file, file.module, "self.t", except_in=guard)
    assert not is_written(file, file.module, "self.u")
