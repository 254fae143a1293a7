"""A parameter that meets other tensors at several places is moved once, before its first use, where a copy will do."""

from __future__ import annotations

import pytest
from mismatch_factory import after, meeting, tensor, use_site

from devfix.model import ScopeVariable
from devfix.sdk.fixes.moved_once import move_at_entry

BODY = "    a = w.abs()\n    b = w.sqrt()\n    y = x * a\n    return y + x * b\n"
MOVED = "    w = w.to(x.device)\n"


def moved(code: str, *scope: ScopeVariable, failing: str = "x * a", name: str = "a") -> list[str]:
    diagnosis, source = meeting(code, failing, name, scope=[tensor("w"), tensor("b"), *scope])
    return [after(each) for each in move_at_entry(diagnosis, use_site(diagnosis, name, "w"), source)]


def test_once_before_the_first_use() -> None:
    code = f"def f(x, w):\n    n = w.shape[0]\n{BODY}"
    assert moved(code) == [code.replace("    a =", f"{MOVED}    a =")]


def test_one_meeting_is_left_to_its_place() -> None:
    assert moved("def f(x, w):\n    a = w.abs()\n    b = w.sqrt()\n    return x * a + b.sum()\n") == []


def test_all_parameters_of_which_it_was_computed() -> None:
    code = "def f(x, w, v):\n    a = w * v\n    b = w - v\n    y = x * a\n    return y + x * b\n"
    assert moved(code, tensor("v")) == [code.replace("    a =", f"{MOVED}    v = v.to(x.device)\n    a =")]


def test_in_the_cast_that_alone_reads_it() -> None:
    body = BODY.replace("w.abs", "v.abs").replace("w.sqrt", "v.sqrt")
    code = f"def f(x, w):\n    n = w.shape\n    v = w.to(x.dtype)\n{body}"
    in_cast = code.replace("w.to(x.dtype)", "w.to(dtype=x.dtype, device=x.device)")
    assert moved(code) == [in_cast, code.replace("    v =", f"{MOVED}    v =")]
    code = code.replace("v.sqrt", "w.sqrt")
    assert moved(code) == [code.replace("    v =", f"{MOVED}    v =")]


def test_in_front_of_loops_and_behind_what_may_leave() -> None:
    code = f"def f(x, w, plain):\n    if plain:\n        return w * 3\n    for _ in range(2):\n{BODY}"
    code = code.replace("\n    a", "\n        a").replace("\n    b", "\n        b").replace("\n    y", "\n        y")
    assert moved(code) == [code.replace("    for", f"{MOVED}    for")]


def test_in_the_branch_that_meets_alone() -> None:
    code = "def f(x, w, mix):\n    if mix:\n        a = w.abs()\n        y = x * a\n        return y + x * w\n"
    code = f"{code}    return w * 2\n"
    assert moved(code) == []
    code = code.replace("return w * 2", "return x")
    assert moved(code) == [code.replace("        a =", f"    {MOVED}        a =")]


@pytest.mark.parametrize(
    "line",
    [
        "print(a.numpy())",
        "print(w.T.tolist())",
        "n = int(b.max())",
        "n = np.sum(w)",
        "for row in w: print(row)",
        "self.last = w",
        "rows.append(a)",
        "pair = [w, x]",
        "w[0] = 1",
        "v = w[0]; v += 1",
        "w.mul_(2)",
        "w = w[1:]",
        "torch.mul(x, 2, out=w)",
        "w.requires_grad_()",
        "g = w.grad",
        "ctx.save_for_backward(x, w)",
        "if w.device == x.device: print()",
        "if isinstance(w, list): print()",
        "reset(w)",
    ],
)
def test_never_where_a_copy_would_not_do(line: str) -> None:
    helper = "def reset(rows):\n    rows.zero_()\n"
    code = f"import numpy as np\n{helper}def f(x, w):\n{BODY}".replace("    y =", f"    {line}\n    y =")
    assert moved(code) == []


@pytest.mark.parametrize(
    "line", ["n = len(w)", "m = w.mean()", "m = w * 2; m += 1", "m = w[0].clone()", "show(w.dtype)"]
)
def test_other_uses_do_not_matter(line: str) -> None:
    code = f"def f(x, w):\n{BODY}".replace("    y =", f"    {line}\n    y =")
    assert len(moved(code)) == 1


@pytest.mark.parametrize("given", ["w, x=None", "w: float | torch.Tensor, x", "w=None, x=1"])
def test_never_what_may_be_no_tensor(given: str) -> None:
    assert moved(f"def f({given}):\n{BODY}") == []


@pytest.mark.parametrize("line", ["x = stack(x)", "x = x.cuda()"])
def test_never_to_the_device_of_what_is_bound_in_between(line: str) -> None:
    code = f"def f(x, w):\n{BODY}"
    assert moved(code.replace("    y =", f"    {line}\n    y =")) == []
    assert len(moved(code.replace("    a =", f"    {line}\n    a ="))) == 1


def test_a_returned_part_stays_where_the_caller_reads_it() -> None:
    assert moved(f"def f(x, w):\n{BODY}".replace("x * b", "x * b, a")) == []
