"""A property is moved where it is read, and what is read as numbers below stays where it is."""

from __future__ import annotations

import pytest
from mismatch_factory import after, meeting, use_site

from devfix.sdk.fixes.moves import move_argument


def moved(code: str, failing: str, name: str = "mask", function: str = "f", **met: str) -> list[str]:
    diagnosis, source = meeting(code, failing, name, function=function, **met)  # type: ignore[arg-type]
    return [after(each) for each in move_argument(diagnosis, use_site(diagnosis, name), source)]


@pytest.mark.parametrize(("decorator", "is_moved"), [("    @property\n", True), ("", False)])
def test_a_property_that_computes_the_operand_is_moved_where_it_is_read(decorator: str, is_moved: bool) -> None:
    kept = f"{decorator}    def bias(self):\n        return self._bias\n"
    code = f"class A:\n{kept}\n    def f(self, x):\n        return add(x, self.bias)\n"
    found = moved(code, "add(x, self.bias)", "self._bias", function="A.f")
    assert found == ([code.replace("self.bias)", "self.bias.to(x.device))")] if is_moved else [])


@pytest.mark.parametrize(
    ("argument", "side"), [("self", "left"), ("mat2", "right"), ("vec", "right"), ("tensor", "right")]
)
def test_a_side_of_a_product_is_moved_by_the_name_that_its_operator_has(argument: str, side: str) -> None:
    code = "class A:\n    def f(self, x):\n        return left(x) @ right(x)\n"
    found = moved(code, "left(x) @ right(x)", "self._kept", function="A.f", op="aten::mm", argument=argument)
    assert found == [code.replace(f"{side}(x)", f"{side}(x).to(x.device)")]


def test_an_attribute_by_another_name_is_the_side_that_failed() -> None:
    code = "class A:\n    load = zeros(3)\n\n    def f(self, x):\n        A.load = x + A.load\n"
    assert moved(code, "x + A.load", "self.load", function="A.f")[0] == code.replace(
        "x + A.load", "x + A.load.to(x.device)"
    )


@pytest.mark.parametrize("read", ["mask.numpy()", "int(mask.sum())", "np.sum(mask)"])
def test_what_is_read_as_numbers_again_stays_where_it_is(read: str) -> None:
    code = f"import numpy as np\ndef f(x, mask):\n    y = x + mask\n    return y, {read}\n"
    assert moved(code, "x + mask")[0] == code.replace("x + mask", "x + mask.to(x.device)")
