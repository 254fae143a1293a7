"""What speaks against a buffer that other code passes to NumPy."""

from __future__ import annotations

import pytest
from objection_cases import BUFFER, NET, strengths

from devfix.model import ScopeVariable

EXPORTS = [
    ("    def table(self):\n        return self.scale.numpy()\n", "", ["strong"]),
    ("    def table(self):\n        return self.scale.cpu().numpy()\n", "", []),
    ("    def table(self):\n        return self.scale.tolist()\n", "", []),
    ("    @property\n    def twice(self):\n        return self.scale * 2\n", "net.twice.numpy()", ["strong"]),
    ("    def twice(self):\n        return self.scale * 2\n", "np.asarray(net.twice())", ["strong"]),
    ("", "as_array(net.scale)", ["strong"]),
    ("", "as_list(net.scale)", []),
    ("", "net.linear.weight.numpy()", []),
]
ARRAYS = "import numpy as np\n\ndef as_array(x):\n    return np.asarray(x)\n\ndef as_list(x):\n    return list(x)\n"


@pytest.mark.parametrize(("method", "used", "expected"), EXPORTS)
def test_a_buffer_that_goes_to_numpy(method: str, used: str, expected: list[str]) -> None:
    """It goes there by a method, a property, or a function that hands it on."""
    main = f"import numpy as np\nfrom net import Net\n\nnet = Net().to(device)\ntable = {used or 0}\n"
    assert strengths(f"{NET}\n{method}", BUFFER, {"arrays.py": ARRAYS, "main.py": main}) == expected
    never_moved = {"arrays.py": ARRAYS, "main.py": main.replace(".to(device)", "")}
    in_class = "self.scale.numpy" in method  # which another file may move
    assert strengths(f"{NET}\n{method}", BUFFER, never_moved) == (expected if in_class else [])


def test_another_class_may_have_an_attribute_of_that_name() -> None:
    other = "class Other:\n    def table(self):\n        return self.scale.numpy()\n"
    assert strengths(NET, BUFFER, {"other.py": other}) == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("bars(net)", ["strong"]),
        ("bars(2, prior=net)", ["strong"]),
        ("bars(other)", []),
        ("bars(net.cpu())", []),
        ("lines(net)", []),
    ],
)
def test_a_function_that_is_passed_the_module(call: str, expected: list[str]) -> None:
    given = "width, prior" if "=" in call else "prior, width=1"
    plot = f"def bars({given}):\n    return prior.scale.numpy()\n\ndef lines(prior):\n    return prior.scale.cpu()\n"
    main = f"from net import Net\nfrom plot import bars, lines\n\nnet = Net().to(device)\n{call}\n"
    assert strengths(NET, BUFFER, {"plot.py": plot, "main.py": main}) == expected
    never_moved = {"plot.py": plot, "main.py": main.replace(".to(device)", "")}
    assert strengths(NET, BUFFER, never_moved) == []


@pytest.mark.parametrize(
    ("used", "expected"),
    [("half()", ["strong"]), ("float", []), ("scale = 0.5", ["strong"]), ("other = 0.5", [])],
)
def test_a_buffer_that_is_registered_by_a_computed_name(used: str, expected: list[str]) -> None:
    """Its name is that of an attribute which stayed where it was when the module went to a GPU."""
    net = NET.replace("self.scale = torch.ones(4)", 'setattr(self, "".join(NAME), torch.ones(4))')
    change = ('setattr(self, "".join(NAME), torch.ones(4))', 'self.register_buffer("".join(NAME), torch.ones(4))')
    scope = (
        ScopeVariable("self", "module", "cuda:0", "Net"),
        ScopeVariable("self.scale", "tensor", "cpu", "Tensor", "torch.float32", (4,)),
        ScopeVariable("self.linear.weight", "tensor", "cuda:0", "Parameter", "torch.float32", (4, 4)),
    )
    other = f"from net import Net\n\nnet = Net()\nnet.{used}\n"
    assert strengths(net, change, {"other.py": other}, scope=scope) == expected
