"""What speaks against taking an attribute out of its object's `__dict__`, as registering it does."""

from __future__ import annotations

import pytest
from objection_cases import BUFFER, LIST, MODULES, NET, found, strengths

IMPORT = "from net import Net\n"
TRACKED = NET.replace("torch.nn.Module", "Tracked")
SETS = "import torch\nclass Tracked(torch.nn.Module):\n    def __setattr__(self, name, value):\n        print(name)\n"
ASKS = IMPORT + "class Told(Net):\n    def __getattr__(self, name):\n        {}\n"


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("import copy\nnet = Net()\nother = copy.copy(net)\nother.scale = net.scale * 2\n", "strong"),
        ("from copy import copy\ndef twice(net):\n    other = copy(net)\n    other.scale = net.scale * 2\n", "strong"),
        ("import copy\nnet = Net().eval()\nother = copy.copy(net)\n", "weak"),
        ("import copy\nclass Wide(Net):\n    def half(self):\n        return copy.copy(self)\n", "weak"),
    ],
)
def test_a_shallow_copy_shares_what_is_registered(text: str, strength: str) -> None:
    (objection,) = found(NET, BUFFER, {"other.py": IMPORT + text})
    assert objection.strength == strength and "shallow copy" in objection.reason
    assert strength in strengths(LIST, MODULES, {"other.py": IMPORT + text})


@pytest.mark.parametrize(
    "text",
    [
        "import copy\nnet = copy.deepcopy(Net())\nnet.scale = net.scale * 2\n",
        "import copy\nnet = Net()\noptions = copy.copy({'a': 1})\n",
        "from copy import deepcopy as copy\nnet = copy(Net())\nnet.scale = net.scale * 2\n",
    ],
)
def test_what_is_no_shallow_copy_of_a_module(text: str) -> None:
    assert found(NET, BUFFER, {"other.py": IMPORT + text}) == []


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("scale = Net().__dict__['scale']\n", "strong"),
        ("scale = vars(Net()).get('scale')\n", "strong"),
        ("print('scale' in Net().__dict__)\n", "strong"),
        ("net = Net()\nprint(sorted(vars(net)))\n", "weak"),
        ("class Wide(Net):\n    def state(self):\n        return dict(self.__dict__)\n", "weak"),
    ],
)
def test_a_dictionary_that_has_the_name_no_more(text: str, strength: str) -> None:
    (objection,) = found(NET, BUFFER, {"other.py": IMPORT + text})
    assert objection.strength == strength and "other.py:" in objection.reason


def test_a_dictionary_of_something_else() -> None:
    assert found(NET, BUFFER, {"other.py": "def known(other):\n    return vars(other), other.__dict__['bias']\n"}) == []


def test_a_method_that_sees_what_is_set() -> None:
    (objection,) = found(TRACKED, BUFFER, {"tracked.py": SETS})
    assert objection.strength == "weak" and "Tracked.__setattr__" in objection.reason
    assert found(NET, BUFFER, {"tracked.py": SETS}) == []  # no base class of it


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return OPTIONS[name]", ["strong"]),
        ("return OPTIONS[name] if name in OPTIONS else super().__getattr__(name)", ["strong"]),
        ("return super().__getattr__(name)", []),
        (
            '"""Return."""\n        try:\n            return super().__getattr__(name)\n        except OSError: raise',
            [],
        ),
    ],
)
def test_a_method_that_answers_for_what_is_registered(body: str, expected: list[str]) -> None:
    assert strengths(NET, BUFFER, {"told.py": ASKS.format(body)}) == expected
