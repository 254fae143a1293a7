"""What speaks against registering a tensor where modules move to the meta device, or are made empty."""

from __future__ import annotations

import pytest
from objection_cases import BUFFER, NET, found, strengths

IMPORT = "import copy\nimport torch\nfrom net import Net\n"


@pytest.mark.parametrize(
    "text",
    [
        "base = copy.deepcopy(Net()).to('meta')\n",
        "base = Net().eval()\nbase.to(device=torch.device('meta'))\n",
        "def emptied(module):\n    return module.to_empty(device='cpu')\n",
    ],
)
def test_a_module_that_loses_the_values_of_its_buffers(text: str) -> None:
    (objection,) = found(NET, BUFFER, {"other.py": IMPORT + text})
    assert objection.strength == "strong" and "other.py:" in objection.reason and "`scale`" in objection.reason


def test_a_function_that_may_move_the_module_it_makes() -> None:
    text = "def build(device):\n    return Net().to(device)\nbase = build('meta')\n"
    assert strengths(NET, BUFFER, {"other.py": IMPORT + text}) == ["weak"]


@pytest.mark.parametrize(
    "text",
    [
        "base = torch.nn.Linear(4, 4).to('meta')\n",
        "with torch.device('meta'):\n    net = Net()\n",
        "known = {}.get('meta')\nprint('meta')\n",
        "other = Net().to('cpu')\nsize = {'meta': 1}\n",
    ],
)
def test_what_takes_no_values_of_the_buffer(text: str) -> None:
    assert found(NET, BUFFER, {"other.py": IMPORT + text}) == []
