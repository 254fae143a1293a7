"""A call is moved whole where its result is wrong, and what it takes a view of in front where that is read as well."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import after, main, meeting, place, use_site

from devfix.model import Event, SourceLocation
from devfix.sdk.fixes.call_result import move_assigned, move_at, occurrences
from devfix.sdk.fixes.moves import move_argument, move_result
from devfix.source import File


def results(code: str, failing: str, kind: str = "derived", **met: object) -> list[str]:
    diagnosis, source = meeting(code, failing, **met)  # type: ignore[arg-type]
    return [after(each) for each in move_result(diagnosis, use_site(diagnosis, kind=kind), source)]


def test_a_call_is_moved_whole() -> None:
    code = "def f(x):\n    mask = make(3)\n    return x + mask\n"
    assert results(code, "make(3)", "creation") == [code.replace("make(3)", "make(3).to(x.device)")]


@pytest.mark.parametrize("made", ["torch.stack([make(r) for r in rows])", "torch.cat(tuple(make(r) for r in rows))"])
def test_what_a_comprehension_makes_is_moved_once_if_it_is_gathered(made: str) -> None:
    code = f"def f(x, rows):\n    mask = {made}\n    return x + mask\n"
    each = code.replace("make(r)", "make(r).to(x.device)")
    assert results(code, "make(r)") == [*([code.replace(made, f"{made}.to(x.device)")] * ("[" in made)), each]


def test_what_a_failed_call_gathers_is_moved_one_by_one() -> None:
    code = "def f(x, rows):\n    return torch.stack([make(r) for r in rows])\n"
    diagnosis, source = meeting(code, "torch.stack([make(r) for r in rows])")
    site = replace(use_site(diagnosis, kind="derived"), place=place(code, "make(r)"))
    assert [after(each) for each in move_result(diagnosis, site, source)] == [code.replace("(r)", "(r).to(x.device)")]


def test_what_stands_alone_is_not_moved() -> None:
    assert results("def f(x, mask):\n    mask.normal_()\n    return x + mask\n", "mask.normal_()") == []


PLAIN = "class Filter:\n    pass\n"


@pytest.mark.parametrize(
    ("holder", "is_moved"),
    [
        (PLAIN, False),
        (PLAIN.replace("    pass", "    def to(self, device): return self"), True),
        (PLAIN.replace("Filter:", "Filter(nn.Module):"), True),
        (PLAIN.replace("class", "@movable\nclass"), True),
        (PLAIN.replace("Filter:", "Filter(Base):").replace("class", "class Base:\n    pass\n\nclass", 1), False),
    ],
)
def test_an_object_of_a_plain_class_has_no_method_to_move_it(holder: str, is_moved: bool) -> None:
    code = f"{holder}\ndef f(x):\n    mask = Filter()\n    return x + mask\n"
    expected = [code.replace("Filter()", "Filter().to(x.device)")] if is_moved else []
    assert results(code, "Filter()", "returned") == expected


def test_of_two_calls_on_a_line_without_columns_none_is_chosen() -> None:
    code = "def f(x):\n    mask = make(size(3))\n    return x + mask\n"
    diagnosis, source = meeting(code, "make(size(3))")
    site = replace(use_site(diagnosis, kind="creation"), place=SourceLocation("main.py", 2, "f", owned=True))
    assert list(move_result(diagnosis, site, source)) == []
    alone = replace(site, place=SourceLocation("main.py", 3, "f", owned=True))
    assert list(move_result(diagnosis, alone, source)) == []


def test_the_name_is_moved_in_front_where_a_view_of_it_is_not_all_that_is_read() -> None:
    code = "def f(x, mask):\n    row = mask.view(-1)\n    return x + row + mask\n"
    assert results(code, "mask.view(-1)") == [
        "def f(x, mask):\n    mask = mask.to(x.device)\n    row = mask.view(-1)\n    return x + row + mask\n",
        code.replace("mask.view(-1)", "mask.view(-1).to(x.device)"),
    ]
    assert results(code, "mask.view(-1)", "creation") == [code.replace("mask.view(-1)", "mask.view(-1).to(x.device)")]


@pytest.mark.parametrize(
    "code",
    [
        "def f(x, mask):\n    row = mask.view(-1)\n    return x + row\n",
        "def f(x, mask):\n    row = mask.view(-1)\n    mask = x\n    return x + row + mask\n",
        "def f(x, mask):\n    if x:\n        return x + mask.view(-1)\n    return mask\n",
        "def f(x, mask):\n    row = mask.view(-1)\n    mask += 1\n    return x + row + mask\n",
        "def f(x, mask=None):\n    row = mask.view(-1)\n    return x + row + mask\n",
    ],
)
def test_else_the_view_is_moved(code: str) -> None:
    assert results(code, "mask.view(-1)") == [code.replace("mask.view(-1)", "mask.view(-1).to(x.device)")]


ASIDE = "def f(x, mask, flip):\n    if flip:\n        mask = mask.flip(0)\n    return x + mask\n"


@pytest.mark.parametrize(("code", "is_aside"), [(ASIDE, True), (ASIDE.replace("    if flip:\n    ", ""), False)])
def test_a_derivation_in_a_branch_is_left_to_the_use_below(code: str, is_aside: bool) -> None:
    derived = Event("op", "aten::flip", "cpu", (place(code, "mask.flip(0)"),))
    diagnosis, source = meeting(code, "x + mask", history=[derived])
    site = replace(use_site(diagnosis, kind="derived"), place=place(code, "mask.flip(0)"), frame=None)
    found = [after(each) for each in move_result(diagnosis, site, source)]
    assert found == ([] if is_aside else [code.replace("mask.flip(0)", "mask.flip(0).to(x.device)")])


def assigned(code: str, *expressions: str, failing: str = "x + mask", at: SourceLocation | None = None) -> list[str]:
    diagnosis, source = meeting(code, failing)
    site = use_site(diagnosis, *(expressions or ("mask",)))
    site = replace(site, place=at) if at is not None else site
    return [after(each) for each in move_assigned(diagnosis, site, source)]


@pytest.mark.parametrize(
    ("code", "failing"),
    [
        ("def f(x):\n    mask = make(3)\n    return x + mask\n", "x + mask"),
        ("def f(x, mask):\n    mask = make(3)\n    mask = x + mask\n", ""),
        ("def f(x):\n    mask: T = make(3)\n    x += mask\n", "x += mask"),
        ("def f(x):\n    mask = make(3)\n    return x + mask\ndef g(x):\n    mask = 1\n", "x + mask"),
        ("x = y\nmask = make(3)\nx + mask\n", "x + mask"),
        ("def f(x, self):\n    self.mask = make(3)\n    x + self.mask\n", "x + self.mask"),
    ],
)
def test_what_a_name_was_given_is_moved(code: str, failing: str) -> None:
    name = "self.mask" if "self" in code else "mask"
    expected = [code.replace("make(3)", "make(3).to(x.device)")] if failing else []
    assert assigned(code, "y", name, failing=failing or "x + mask") == expected


@pytest.mark.parametrize(
    "code",
    [
        "def f(x, mask):\n    y = x + mask\n    mask = make(3)\n",
        "def f(x, mask):\n    mask = x + mask\n",
        "def f(x):\n    for i in x:\n        mask = make(3)\n    return x + mask\n",
        "def f(x):\n    mask = make(3)\n    if x:\n        mask = make(4)\n    return x + mask\n",
        "def f(y):\n    mask = make(3)\n    x = y.sin()\n    return x + mask\n",
        "def f(x, mask):\n    return x + mask\n",
        "mask = make(3)\ndef f(x):\n    return x + mask\n",
        "def f(x):\n    mask = make(3)\n    return x + mask.table\n",
    ],
)
def test_unless_it_comes_later_again_or_in_a_loop_or_before_the_device(code: str) -> None:
    name = "mask.table" if "table" in code else "mask"
    assert assigned(code, name) == []


def test_of_what_cannot_be_read_nothing_was_given() -> None:
    code = "def f(x):\n    mask = make(3)\n\n    return x + mask\n"
    assert assigned(code, at=SourceLocation("/torch/nn.py", 4, "f")) == []
    assert assigned(code, at=SourceLocation("main.py", 9, "f", owned=True)) == []
    other = code.replace("x + mask", "x + y")
    assert assigned(other, failing="x + y") == []


@pytest.mark.parametrize(
    ("code", "root", "text", "found"),
    [
        ("y = f(g(mask), mask)", "f(g(mask), mask)", "mask", [(1, 15), (1, 8)]),
        ("y = f(x) + mask", "f(x)", "mask", [(1, 11)]),
        ("y = f(\n    x,\n    mask=mask)", "f(\n    x,\n    mask=mask)", "mask", [(3, 9)]),
        ("if f(x):\n    g(mask)", "f(x)", "mask", []),
        ("mask = f(x)", "f(x)", "mask", []),
        ("y = f(x) + a.shadow[name]", "f(x)", 'a.shadow["w"]', [(1, 11)]),
        ("if x + a.shadow[name]: pass", "x + a.shadow[name]", 'a.shadow["w"]', [(1, 7)]),
        ("y = f(a['k'][name])", "f(a['k'][name])", 'a["k"]["w"]', [(1, 6)]),
        ("y = f(x, a[name], a[0], a[i, name], a[name:], b[name])", "x", "a[3]", [(1, 9)]),
        ("y = f(a[name])", "f(a[name])", "a[0].b", []),
        ("a[name] = f(x)", "f(x)", "a[0]", []),
        ("y = f(a[name])", "f(a[name])", "a", [(1, 6)]),
    ],
)
def test_where_an_expression_is_read(code: str, root: str, text: str, found: list[tuple[int, int]]) -> None:
    file = main(f"{code}\n")
    node = (file.find(file.module, root) or file.find(file.module, "f(a[name], a[0], a[i, name], a[name:], b[name])"))[
        0
    ]
    places = [file.place_of(each) for each in occurrences(file, node, text)]
    assert [(each.line, each.column) for each in places] == found


LONG = "f(" + ", ".join(["argument"] * 7) + ")"  # 71 letters


@pytest.mark.parametrize(
    ("code", "moved", "told"),
    [
        ("make(3)", "make(3).to(d)", "make(3)"),
        ("make(\n    3)", "make(\n    3).to(d)", "make( 3)"),
        (f"{LONG}[0]", f"{LONG}[0].to(d)", f"{LONG}[0]"),
        (f"a{LONG}", f"a{LONG}.to(d)", f"a{LONG}"),
        (f"a.b{LONG}", f"a.b{LONG}.to(d)", "a.bf(…)"),
        (f"(a\n    .{LONG[0]}){LONG[1:]}", f"(a\n    .f){LONG[1:]}.to(d)", "(a .f)(…)"),
        ("nn.Parameter(make(3))", "nn.Parameter(make(3).to(d))", "make(3)"),
        ("x.to(e)", "x.to(e).to(d)", "x.to(e)"),
        ("Parameter(make(3), False)", "Parameter(make(3).to(d), False)", "make(3)"),
        ("Parameter()", "Parameter().to(d)", "Parameter()"),
    ],
)
def test_an_expression_is_moved_and_told(code: str, moved: str, told: str) -> None:
    file = main(f"y = {code}\n")
    found = move_at(file, file.module.body[0].body[0].value, "d")  # type: ignore[union-attr, attr-defined]
    assert after(found) == f"y = {moved}\n"
    assert found is not None and found.title == f"Move `{told}` to `d`"


def test_what_is_moved_already_is_not_moved_again() -> None:
    file = main("y = self.mean.to(d) + self.scale + self.mean\n")
    moved, bare = file.find(file.module, "self.mean")
    scale = file.find(file.module, "self.scale")[0]
    assert move_at(file, moved, "d") is None
    assert (
        after(move_at(file, scale, "d", [moved, bare])) == "y = self.mean.to(d) + self.scale.to(d) + self.mean.to(d)\n"
    )
    assert move_at(file, moved, "e") is None


def test_an_element_by_a_computed_key_is_read_where_it_is_written_so() -> None:
    code = "def f(x, xs, i):\n    return linear(x, xs[i], xs[i + 1], xs[2:])\n"
    file = File("main.py", code.encode())
    failing = file.find(file.module, "linear(x, xs[i], xs[i + 1], xs[2:])")[0]
    assert [file.code(each) for each in occurrences(file, failing, "xs[3]")] == ["xs[i]", "xs[i + 1]"]


def test_an_element_is_read_from_the_end() -> None:
    file = File("m.py", b"def f(x, xs):\n    return linear(x, xs[0], xs[-1])\n")
    failing = file.find(file.module, "linear(x, xs[0], xs[-1])")[0]
    assert [file.code(each) for each in occurrences(file, failing, "xs[1]")] == ["xs[-1]"]
    assert [file.code(each) for each in occurrences(file, failing, "xs[0]")] == ["xs[0]"]
    assert occurrences(file, failing, "ys[3]") == []


@pytest.mark.parametrize(
    ("line", "text", "found"),
    [
        ("f(batch.mask, batch.ids)", 'batch["mask"]', ["batch.mask"]),
        ("f(batch.x.mask)", "batch['x'][\"mask\"]", ["batch.x.mask"]),
        ("f(batch['mask'], batch.mask)", "batch['mask']", ["batch['mask']"]),
        ("f(batch.mask)", "batch['a mask']", []),
        ("f(batch.mask)", "batch[0]", []),
        ("batch.mask = f(x)", "batch['mask']", []),
    ],
)
def test_elements_that_are_read_as_attributes(line: str, text: str, found: list[str]) -> None:
    file = main(f"{line}\n")
    assert [file.code(each) for each in occurrences(file, file.module, text)] == found


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        ("cat([x, xs.pop()], 1)", "cat([x, xs.pop().to(x.device)], 1)"),
        ("cat([first(x), xs.pop()], 1)", "cat([first(x), xs.pop().to(x.device)], 1)"),
        ("cat([*xs, xs.pop()], 1)", None),  # which element it is depends on the list
        ("cat(join(x, xs.pop()), 1)", "cat(join(x, xs.pop()).to(x.device), 1)"),
    ],
)
def test_an_element_of_a_written_list_that_has_no_name(failing: str, expected: str | None) -> None:
    code = f"def f(x, xs):\n    return {failing}\n"
    diagnosis, source = meeting(code, failing, "mask", argument="tensors[1]")
    operands = tuple(replace(each, names=()) if each.device == "cpu" else each for each in diagnosis.failure.operands)
    unnamed = replace(diagnosis, failure=replace(diagnosis.failure, operands=operands))
    found = [after(each) for each in move_argument(unnamed, use_site(unnamed), source)]
    assert found == ([code.replace(failing, expected)] if expected else [])
