"""What a property's setter is given says nothing against a move of what the setter makes of it."""

from __future__ import annotations

import pytest
from objection_cases import NET, strengths

AT_USE = ("* self.scale", "* self.scale.to(x.device)")
PROPERTY = """
    @property
    def scale(self):
        return self._scale

    @scale.setter
    def scale(self, value):
        self._scale = {}
"""


@pytest.mark.parametrize(("kept", "expected"), [("torch.as_tensor(value)", []), ("value", ["strong"])])
def test_what_a_setter_converts_is_a_tensor_whatever_the_property_is_given(kept: str, expected: list[str]) -> None:
    tune = {"tune.py": "from net import Net\n\nnet = Net()\nnet.scale = [1.0, 2.0]\n"}
    assert strengths(NET + PROPERTY.format(kept), AT_USE, tune) == expected
