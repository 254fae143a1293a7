"""What a binding says of a device, and which names a file has bound where."""

from __future__ import annotations

import pytest
from mismatch_factory import main

from devfix.model import ScopeVariable
from devfix.sdk import is_local
from devfix.sdk.fixes.device_expressions import is_bound, means
from devfix.source.queries.reading import definition


@pytest.mark.parametrize(
    ("binding", "device", "same"),
    [
        ("cuda:0", "cuda:0", True),
        ("cuda", "cuda:1", True),
        ("cuda", "cpu", False),
        ("cuda:0", "cuda:1", False),
        ("cpu", "cpu", True),
    ],
)
def test_what_a_device_means(binding: str, device: str, same: bool) -> None:
    assert means(ScopeVariable("d", "device", binding), device) is same


BINDERS = """
import torch.nn
import numpy as np
from a import b as c, e
x = 1
x2: int = 2
(y, [z]) = 1
for i, k in x: pass
with open() as fh: pass
if (w := 1): pass
class K: inner = 1
def g(): inside = 1
h = lambda q: (r := q)
def f(a, /, bb, *args, cc=1, **rest):
    use
    later = 1
top
"""


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        *((name, True) for name in ["torch", "np", "c", "e", "x", "x2", "y", "z", "i", "k", "fh", "w", "g", "h"]),
        *((name, False) for name in ["nn", "b", "a", "inner", "inside", "q", "r", "later"]),
        ("self", True),
        ('"cpu"', True),
        ("'cpu'", True),
    ],
)
def test_what_binds_a_name_of_the_module(name: str, bound: bool) -> None:
    file = main(BINDERS)
    assert is_bound(file, file.find(file.module, "top")[0], f"{name}.device" if name[0] not in "\"'" else name) is bound


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        *((name, True) for name in ["a", "bb", "args", "cc", "rest", "torch", "next"]),
        ("later", False),
        ("unknown", True),
    ],
)
def test_what_is_bound_in_a_function(name: str, bound: bool) -> None:
    file = main(BINDERS)
    assert is_bound(file, file.find(file.module, "use")[0], f"next({name}.parameters()).device") is bound


@pytest.mark.parametrize(
    ("name", "local"),
    [*((name, True) for name in ["a", "bb", "args", "cc", "rest", "later"]), ("x", False), ("f", False)],
)
def test_what_is_local(name: str, local: bool) -> None:
    function = definition(main(BINDERS), "f")
    assert is_local(function, name) is local  # type: ignore[arg-type]


GUARDED = """def f(x):
    return x + 1


if __name__ == "__main__":
    device = pick()
    f(device)
"""


def test_a_name_of_the_main_guard_is_for_the_main_guard() -> None:
    file = main(GUARDED)
    inside, call = file.find(file.module, "x + 1")[0], file.find(file.module, "f(device)")[0]
    assert [is_bound(file, node, "device") for node in (inside, call)] == [False, True]
    used = main(GUARDED.replace("x + 1", "x.to(device) + 1"))
    assert is_bound(used, used.find(used.module, "x.to(device) + 1")[0], "device"), "the function relies on it already"
    either = main(GUARDED.replace("if __name__", "device = None\nif __name__"))
    assert is_bound(either, either.find(either.module, "x + 1")[0], "device")
