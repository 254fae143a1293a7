"""What speaks against calling a method of a tensor on a parameter, from what calls of the function pass."""

from __future__ import annotations

import pytest
from objection_cases import HELPER, MOVED, NET, found, strengths


@pytest.mark.parametrize("given", ["0.5", "[1.0, 2.0]", "None", "weights", "numpy.ones(3)", "factor=2"])
def test_a_caller_that_passes_no_tensor(given: str) -> None:
    text = f"from net import scaled\nweights = [1, 2]\nprint(scaled(torch.ones(3), {given}))\n"
    assert strengths(HELPER, MOVED, {"other.py": text}) == ["strong"]


def test_a_caller_that_passes_none_where_the_function_asks_for_it() -> None:
    helper = HELPER.replace("    return", "    if factor is None:\n        return x\n    return")
    assert helper != HELPER and found(helper, MOVED, {"other.py": "from net import scaled\nscaled(x, None)\n"}) == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("net(x, 0.5)", ["strong"]),
        ("Net()(x, factor=0.5)", ["strong"]),
        ("net(x, torch.ones(4))", []),
        ("other(x, 0.5)", []),
    ],
)
def test_an_object_that_is_called_without_a_tensor(call: str, expected: list[str]) -> None:
    net = NET.replace("forward(self, x)", "forward(self, x, factor)").replace("* self.scale", "* factor")
    text = f"from net import Net\nnet, other = Net(), torch.mul\nnet = Net().eval()\nprint({call})\n"
    assert strengths(net, ("* factor", "* factor.to(x.device)"), {"other.py": text}) == expected


@pytest.mark.parametrize("given", ["torch.ones(3)", "tensor", "other.weights", "net(x)"])
def test_a_caller_that_may_pass_a_tensor(given: str) -> None:
    assert found(HELPER, MOVED, {"other.py": f"from net import scaled\nprint(scaled(torch.ones(3), {given}))\n"}) == []


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("torch.Tensor", []),
        ("Optional[torch.Tensor]", []),
        ("Union[np.ndarray, torch.Tensor]", ["weak"]),
        ("ArrayOrTensor", ["weak"]),
        ("types.ArrayOrTensor", ["weak"]),
        ("TensorOnly", []),
    ],
)
def test_a_device_that_is_read_of_what_may_be_an_array(annotation: str, expected: list[str]) -> None:
    before = f"def scaled(x: {annotation}, factor):\n    return x * factor\n"
    aliases = {"types.py": "ArrayOrTensor = Union[np.ndarray, torch.Tensor]\nTensorOnly = Union[torch.Tensor]\n"}
    assert strengths(before, MOVED, aliases) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("factor = torch.stack(factor)", []),
        ("x, factor = torch.as_tensor(x), torch.as_tensor(factor)", []),
        ("x, factor = torch.as_tensor(x), list(factor)", ["strong"]),
        ("factor = factor or 1", ["strong"]),
        ("if x.dim():\n        factor = torch.stack(factor)", ["strong"]),
        ("x = torch.stack(factor)", ["strong"]),
    ],
)
def test_a_parameter_of_which_the_function_makes_a_tensor_first(made: str, expected: list[str]) -> None:
    helper = HELPER.replace("    return", f"    {made}\n    return")
    caller = {"other.py": "from net import scaled\nprint(scaled(x, [a.mean(), b.mean()]))\n"}
    assert strengths(helper, MOVED, caller) == expected


def test_a_parameter_that_need_not_be_a_tensor() -> None:
    assert strengths(HELPER.replace("factor)", "factor=1.0)"), MOVED) == ["strong"]
    assert strengths(HELPER.replace("factor)", "factor: float)"), MOVED) == ["strong"]
    assert found(HELPER.replace("factor)", "factor: torch.Tensor = 1.0)"), MOVED) == []
    guarded = ("x * factor", "x * (factor.to(x.device) if isinstance(factor, torch.Tensor) else factor)")
    assert found(HELPER.replace("factor)", "factor=1.0)"), guarded) == []


@pytest.mark.parametrize(
    ("guard", "given", "expected"),
    [
        ("if isinstance(factor, list):\n        factor = torch.stack(factor)", "[a, b]", []),
        ("if isinstance(factor, (list, tuple)):\n        factor = torch.tensor(factor)", "(1, 2)", []),
        ("if not torch.is_tensor(factor):\n        return [v * 2 for v in factor]", "[1, 2]", []),
        ("if not isinstance(factor, torch.Tensor):\n        factor = torch.tensor(factor)", "0.5", []),
        ("if isinstance(factor, list):\n        factor = torch.stack(factor)", "(a, b)", ["strong"]),
        ("if isinstance(factor, list):\n        factor = tuple(factor)", "[a, b]", ["strong"]),
        ("if isinstance(factor, torch.Tensor):\n        factor = torch.clone(factor)", "[a, b]", ["strong"]),
        ("if isinstance(x, list):\n        factor = torch.stack(factor)", "[a, b]", ["strong"]),
    ],
)
def test_a_type_that_a_test_above_has_settled(guard: str, given: str, expected: list[str]) -> None:
    helper = HELPER.replace("    return", f"    {guard}\n    return")
    text = f"from net import scaled\nprint(scaled(torch.ones(3), {given}))\n"
    assert helper != HELPER and strengths(helper, MOVED, {"other.py": text}) == expected


@pytest.mark.parametrize(("test", "expected"), [("np.ndarray", []), ("list", ["strong"])])
def test_an_array_for_which_a_test_above_ends_the_function(test: str, expected: list[str]) -> None:
    helper = HELPER.replace("    return x", f"    if isinstance(factor, {test}):\n        return x\n    return x")
    caller = "import numpy as np\nfrom net import scaled\n\nprint(scaled(torch.ones(4), np.ones(4)))\n"
    assert strengths(helper, MOVED, {"main.py": caller}) == expected
