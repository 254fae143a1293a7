"""What speaks against a call on a value that is no tensor elsewhere, though no parameter holds it."""

from __future__ import annotations

import pytest
from objection_cases import BUFFER, NET, found, strengths

LOOP = "def summed(xs, weights):\n    for x, weight in zip(xs, weights):\n        x = x * weight\n    return x\n"
MOVED = ("x * weight", "x * weight.to(x.device)")
IMPORT = "from net import *\n"


@pytest.mark.parametrize(
    ("call", "is_number"),
    [
        ("summed(xs, [0.5, 2])", True),
        ("summed(xs, [float(word) for word in words])", True),
        ("summed(xs, (1.0, 2.0))", True),
        ("weights = [1.0, 2.0]\nsummed(xs, weights)", True),
        ("summed(xs, [None, torch.ones(2)])", False),
    ],
)
def test_elements_of_what_a_caller_passes(call: str, is_number: bool) -> None:
    (objection, *_) = found(LOOP, MOVED, {"other.py": IMPORT + call + "\n"})
    assert objection.strength == "strong" and bool(objection.numbers) is is_number


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("summed((x, net(w)) for x, w in xs)", []),
        ("summed([(torch.ones(2), torch.ones(2))])", []),
        ("summed([(torch.ones(2), 0.5)])", ["strong"]),
        ("summed([torch.ones(2), xs])", []),
        ("summed([(x,) for x in xs])", []),
    ],
)
def test_parts_of_the_elements_of_what_a_caller_passes(call: str, expected: list[str]) -> None:
    pairs = LOOP.replace("xs, weights", "pairs", 1).replace("zip(xs, weights)", "pairs")
    assert strengths(pairs, MOVED, {"other.py": IMPORT + call + "\n"}) == expected


@pytest.mark.parametrize("call", ["summed(xs, [torch.ones(2)])", "summed(layers, weights)", "other(xs, [0.5])"])
def test_elements_that_are_tensors_or_unknown(call: str) -> None:
    assert found(LOOP, MOVED, {"other.py": IMPORT + call + "\n"}) == []


@pytest.mark.parametrize(
    ("signature", "expression"),
    [
        ("x, options", "options['weights']"),
        ("x, **options", "options['weights']"),
        ("x, options", "options.get('weights')"),
        ("x, options", "options.get('weights', 1.0)"),
        ("x, options", "getattr(options, 'weights', 1.0)"),
    ],
)
def test_an_item_or_a_default(signature: str, expression: str) -> None:
    text = f"def weighted({signature}):\n    return x * {expression}\n"
    change = (f"x * {expression}", f"x * {expression}.to(x.device)")
    words = "weights=0.5" if "**" in signature else "{'weights': 0.5}"
    assert strengths(text, change, {"other.py": f"{IMPORT}weighted(x, {words})\n"})[:1] == ["strong"]
    named = f"def weighted({signature}):\n    weights = {expression}\n    return x * weights\n"
    change = ("x * weights", "x * weights.to(x.device)")
    assert strengths(named, change, {"other.py": f"{IMPORT}weighted(x, {words})\n"})[:1] == ["strong"]


def test_an_item_that_is_a_tensor() -> None:
    text = "def weighted(x, options):\n    return x * options['weights']\n"
    change = ("options['weights']", "options['weights'].to(x.device)")
    other = "options = {'weights': torch.ones(3), 'scale': 2.0}\nweighted(x, options)\n"
    assert found(text, change, {"other.py": IMPORT + other}) == []


SCHEDULED = """class Trainer:
    def __init__(self, net, schedule):
        self.net, self.schedule = net, schedule

    def step(self, x):
        weights = self.schedule(x)
        return x * weights
"""


@pytest.mark.parametrize(
    ("given", "expected"), [("lambda x: 0.5", ["strong"]), ("lambda x: torch.ones(3)", []), ("schedule", ["strong"])]
)
def test_the_result_of_a_function_that_is_given(given: str, expected: list[str]) -> None:
    other = f"{IMPORT}def schedule(x):\n    return float(x)\nTrainer(net, {given})\n"
    for change in (("x * weights", "x * weights.to(x.device)"), ("schedule(x)", "schedule(x).to(x.device)")):
        assert strengths(SCHEDULED, change, {"other.py": other}) == expected


def test_the_result_of_a_function_of_the_repository() -> None:
    text = "def weights(plain):\n    return 1.0 if plain else torch.ones(3)\n"
    text += "def main(x):\n    return x * weights(plain)\n"
    assert strengths(text, ("x * weights(plain)", "x * weights(plain).to(x.device)")) == ["strong"]
    text = text.replace("1.0 if plain else torch.ones(3)", "torch.ones(3)")
    assert found(text, ("x * weights(plain)", "x * weights(plain).to(x.device)")) == []


def test_a_test_for_none_before_the_call() -> None:
    text = (
        "def weighted(x, options):\n    weights = options.get('weights', None)\n"
        "    return x if weights is None else x * weights\n"
    )
    assert found(text, ("x * weights", "x * weights.to(x.device)")) == []


@pytest.mark.parametrize(("given", "expected"), [("0.5", ["strong"]), ("torch.ones(4)", []), ("weights", [])])
def test_what_the_constructor_is_given(given: str, expected: list[str]) -> None:
    text = NET.replace("__init__(self)", "__init__(self, scale)", 1).replace("torch.ones(4)", "scale")
    change = (BUFFER[0].replace("torch.ones(4)", "scale"), BUFFER[1].replace("torch.ones(4)", "scale"))
    other = {"other.py": f"{IMPORT}net = Net({given})\n"}
    assert strengths(text, change, other) == expected
    plain = text.replace("torch.nn.Module", "Base")
    assert strengths(plain, ("* self.scale", "* self.scale.to(x.device)"), other) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["weights = [1.0]", "weights = torch.tensor(weights)"], []),
        (["weights = 1.0", "if options:", "    weights = torch.ones(3)"], ["strong"]),
        (["weights = 1.0", "if options:", "    x = x + 1", "weights = torch.ones(3)"], []),
        (["weights = 1.0", "if not torch.is_tensor(weights):", "    weights = torch.tensor(weights)"], []),
        (["weights = options.get('weights', None)", "if weights is None:", "    weights = torch.ones(3)"], []),
    ],
)
def test_a_name_that_is_assigned_more_than_once(lines: list[str], expected: list[str]) -> None:
    text = "".join(f"    {line}\n" for line in lines)
    text = f"def weighted(x, options):\n{text}    return x * weights\n"
    assert strengths(text, ("x * weights", "x * weights.to(x.device)")) == expected


@pytest.mark.parametrize(("given", "expected"), [("0.5", ["strong"]), ("torch.ones(3)", []), ("weights", [])])
def test_what_the_enclosing_function_is_given(given: str, expected: list[str]) -> None:
    text = "def weighted(weights):\n    def loss(x):\n        return x * weights\n    return loss\n"
    other = {"other.py": f"{IMPORT}loss = weighted({given})\n"}
    assert strengths(text, ("x * weights", "x * weights.to(x.device)"), other) == expected


@pytest.mark.parametrize(("given", "expected"), [("lambda n: float(n)", ["strong"]), ("lambda n: torch.ones(n)", [])])
def test_the_result_of_a_function_that_a_parameter_holds(given: str, expected: list[str]) -> None:
    text = "def shifted(x, make):\n    return x + make(3)\n"
    other = {"other.py": f"{IMPORT}shifted(torch.ones(3), {given})\n"}
    assert strengths(text, ("make(3)", "make(3).to(x.device)"), other) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("scale = torch.tensor(scale)", []),
        ("scale: torch.Tensor = torch.tensor(scale)", []),
        ("scale = scale if scale else 1.0", ["strong"]),
        ("other = torch.tensor(scale)", ["strong"]),
        ("if x:\n            scale = torch.tensor(scale)", ["strong"]),
    ],
)
def test_what_a_function_computes_of_a_parameter_takes_its_place(line: str, expected: list[str]) -> None:
    net = NET.replace("__init__(self)", "__init__(self, scale)").replace(
        "self.scale = torch.ones(4)", f"{line}\n        self.scale = scale"
    )
    change = ("self.scale = scale", 'self.register_buffer("scale", scale, persistent=False)')
    told = strengths(net, change, {"other.py": IMPORT + "Net([1.0, 2.0, 3.0, 4.0])\n"})
    assert sorted(set(told)) == expected
