"""What speaks against moving a field, which a generated constructor fills."""

from __future__ import annotations

import pytest
from objection_cases import found, strengths

from devfix.model import ScopeVariable

OPTIONS = """from dataclasses import dataclass, field
import torch
@dataclass(frozen=True)
class Options:
    name: str
    weights: torch.Tensor = field(default_factory=lambda: torch.ones(3))
    def weighted(self, x):
        return x * self.weights
"""
AT_USE = ("x * self.weights", "x * self.weights.to(x.device)")
IMPORTED = "from net import Options\n"


@pytest.mark.parametrize(
    "text",
    [
        "Options('a', 2.0)\n",
        "Options('a', weights=float(given))\n",
        "number = 2\nOptions('a', number)\n",
        "from dataclasses import replace\nreplace(options, weights=2.0)\n",
        "class Plain(Options):\n    weights = 1.0\n",
        "@dataclass\nclass Plain(Options):\n    weights: float = field(default=1.0)\n",
        "@dataclass\nclass More(Options):\n    more: int = 1\nMore('a', 2.0, 3)\n",
    ],
)
def test_a_field_that_is_given_a_number(text: str) -> None:
    (objection,) = found(OPTIONS, AT_USE, {"other.py": IMPORTED + text})
    assert objection.strength == "strong" and objection.numbers == "self.weights"
    assert "other.py" in objection.reason and "which has no `.to`" in objection.reason


@pytest.mark.parametrize(
    "text",
    [
        "Options('a')\nOptions('a', torch.zeros(3))\nOptions('a', given)\nOptions(*given, 2.0)\n",
        "class Plain(Options):\n    def __init__(self, name, weights):\n        self.kept = weights\nPlain('a', 2.0)\n",
        "class Other:\n    weights = 1.0\nOther('a', 2.0)\n",
    ],
)
def test_a_field_that_is_given_no_number(text: str) -> None:
    assert found(OPTIONS, AT_USE, {"other.py": IMPORTED + text}) == []


def test_a_field_whose_default_is_a_number() -> None:
    assert strengths(OPTIONS.replace("lambda: torch.ones(3)", "lambda: 1.0"), AT_USE) == ["strong"]
    assert strengths(OPTIONS.replace("field(default_factory=lambda: torch.ones(3))", "1.0"), AT_USE) == ["strong"]


def test_the_fields_of_a_named_tuple() -> None:
    named = OPTIONS.replace("@dataclass(frozen=True)\n", "").replace("class Options:", "class Options(NamedTuple):")
    assert strengths(named, AT_USE, {"other.py": f"{IMPORTED}Options('a', 2.0)\n"}) == ["strong"]
    assert strengths(named, AT_USE, {"other.py": f"{IMPORTED}options._replace(weights=2.0)\n"}) == ["strong"]


def test_a_class_that_derives_from_one_of_its_name() -> None:
    named = OPTIONS.replace("class Options:", "class Options(library.Options):")
    assert strengths(named, AT_USE, {"other.py": f"{IMPORTED}Options('a', 2.0)\n"}) == ["strong"]


USED = (
    OPTIONS.partition("    def weighted")[0]
    + """def weighted(options: Options, x):
    return x * options.weights
"""
)
OF_ANOTHER = ("x * options.weights", "x * options.weights.to(x.device)")


@pytest.mark.parametrize(
    "text",
    ["Options('a', 2.0)\n", "from net import Options as Given\nGiven('a', 2.0)\n", "options.weights = 2.0\n"],
)
def test_a_field_that_is_read_through_another_object(text: str) -> None:
    text = text.replace("options.weights", "options = Options('a')\noptions.weights")
    (objection,) = found(USED, OF_ANOTHER, {"other.py": IMPORTED + text})
    assert objection.strength == "strong" and objection.numbers == "options.weights"


def test_the_class_of_an_object_that_the_run_had_in_scope() -> None:
    plain = USED.replace("options: Options", "options")
    number = {"other.py": f"{IMPORTED}Options('a', 2.0)\n"}
    assert found(plain, OF_ANOTHER, number) == []
    seen = ScopeVariable("options", "object", "cpu", "Options", classes=("net.Options",))
    assert [each.strength for each in found(plain, OF_ANOTHER, number, scope=(seen,))] == ["strong"]


def test_a_class_of_the_same_name_in_another_file() -> None:
    another = "@dataclass\nclass Options:\n    weights: float = 1.0\n"
    assert found(OPTIONS, AT_USE, {"plain.py": another, "other.py": "from plain import Options\nOptions(2.0)\n"}) == []
    ours = {"plain.py": another, "other.py": f"{IMPORTED}Options('a', 2.0)\n"}
    assert strengths(OPTIONS, AT_USE, ours) == ["strong"]
