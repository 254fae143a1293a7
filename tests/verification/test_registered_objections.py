"""What speaks against a buffer that other code passes to NumPy."""

from __future__ import annotations

import pytest
from objection_cases import BUFFER, NET, strengths

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
