"""What speaks against the device that an edit introduces: who gets the result, and whether the device is current."""

from __future__ import annotations

from dataclasses import replace

import pytest
from objection_cases import found, strengths
from verifier_cases import failure

from devfix.model import Event, Operand

HEAD = """import torch

class Net(torch.nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
        self.linear = torch.nn.Linear(4, 4)

"""
PROPERTY = HEAD + "    @property\n    def ramp(self):\n        return torch.arange(4)\n"
METHOD = HEAD + "    def ramp(self, x):\n        steps = torch.arange(4)\n        return steps + 1\n"
OWN = ("torch.arange(4)", "torch.arange(4, device=self.device)")
GIVEN = ("torch.arange(4)", "torch.arange(4, device=x.device)")
IMPORT = "import numpy as np\nfrom net import Net\nnet = Net(device)\n"


@pytest.mark.parametrize(
    ("text", "on_property", "on_method"),
    [
        ("table = {}.numpy()", ["strong"], ["strong"]),
        ("table = np.asarray({}.float() * 1)", [], []),
        ("table = np.asarray({}.float()[0])", ["strong"], ["strong"]),
        ("table = {}\nprint(np.sum(table))", ["strong"], ["strong"]),
        ("table = {}.cpu().numpy()", [], []),
        ("table = {} + 1", [], []),
    ],
)
def test_a_result_that_is_passed_to_numpy(text: str, on_property: list[str], on_method: list[str]) -> None:
    assert strengths(PROPERTY, OWN, {"other.py": IMPORT + text.format("net.ramp") + "\n"}) == on_property
    called = {"other.py": IMPORT + text.format("net.ramp(x)") + "\n"}
    assert strengths(METHOD, OWN, called) == on_method
    assert found(METHOD, GIVEN, called) == []  # the caller chooses


def test_the_elements_of_what_a_caller_gives() -> None:
    text = METHOD.replace(
        "steps = torch.arange(4)", "for at, part in enumerate({}):\n            steps = torch.arange(4)"
    )
    change = ("torch.arange(4)", "torch.arange(4, device=part.device)")
    called = {"other.py": IMPORT + "table = net.ramp(x).numpy()\n"}
    assert found(text.replace("{}", "x"), change, called) == []
    assert strengths(text.replace("{}", "PARTS"), change, called) == ["strong"]
    listed = METHOD.replace("steps = torch.arange(4)", "steps = [torch.arange(4) for part in {}.parts()]")
    assert found(listed.replace("{}", "x"), change, called) == []
    change = ("torch.arange(4)", "torch.arange(4, device=y.device)")
    for made, expected in (("y.to(x.device)", []), ("yield 1", []), ("y.to(Y.device)", ["strong"])):
        assert strengths(METHOD.replace("steps = ", f"y = {made}\n        steps = "), change, called) == expected


@pytest.mark.parametrize(
    ("combined", "expected"),
    [
        ("known / torch.arange(4)", []),
        ("known[0].cumsum(0) == torch.arange(4)", []),
        ("(1 - known[0]) * 2 - torch.arange(4)", []),
        ("known.numel() / torch.arange(4)", ["strong"]),
        ("len(known) / torch.arange(4)", ["strong"]),
        ("known.sum(torch.arange(4))", ["strong"]),
    ],
)
def test_what_is_combined_with_the_tensor_whose_device_it_gets_was_there_before(
    combined: str, expected: list[str]
) -> None:
    text = METHOD.replace("steps = torch.arange(4)", f"known = self.known\n        steps = {combined}")
    change = ("torch.arange(4)", "torch.arange(4, device=known.device)")
    assert strengths(text, change, {"other.py": IMPORT + "table = net.ramp(x).numpy()\n"}) == expected


def test_a_value_that_is_not_returned() -> None:
    text = METHOD.replace("return steps + 1", "self.linear(steps)\n        return x")
    assert found(text, OWN, {"other.py": IMPORT + "table = net.ramp(x).numpy()\n"}) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("net = Net(device).cpu()", ["strong"]),
        ("net.to('cpu')", ["strong"]),
        ("net.to(device)", []),
        ("rows = rows.cpu()", []),
    ],
)
def test_a_module_that_is_moved_and_keeps_the_device_of_its_constructor(text: str, expected: list[str]) -> None:
    other = {"other.py": f"{IMPORT}{text}\n"}
    assert strengths(METHOD, OWN, other) == expected
    current = METHOD.replace("        self.device = device\n", "").replace(
        "    def ramp", "    @property\n    def device(self):\n        return self.linear.weight.device\n\n    def ramp"
    )
    assert found(current, OWN, other) == []


@pytest.mark.parametrize(
    ("signature", "expected"),
    [("self, n", ["strong"]), ("self, n, device", []), ("self, n, *, device=None", []), ("self, n, **more", [])],
)
def test_an_override_that_takes_no_device(signature: str, expected: list[str]) -> None:
    steps = "    def steps(self, n, device=None):\n        return torch.arange(n, device=device)\n"
    text = HEAD + steps + "    def forward(self, x):\n        return x + self.steps(4)\n"
    other = f"from net import Net\nclass Wide(Net):\n    def steps({signature}):\n        return torch.ones(n)\n"
    change = ("self.steps(4)", "self.steps(4, device=x.device)")
    assert strengths(text, change, {"wide.py": other}) == expected


def test_a_parameter_that_is_ignored_from_now_on() -> None:
    text = HEAD + "    def steps(self, n, device=None):\n        return torch.arange(n, device=device)\n"
    (objection,) = found(text, ("n, device=device", "n, device=self.linear.weight.device"))
    assert objection.strength == "strong" and "parameter `device`" in objection.reason
    unused = text.replace("n, device=device", "n")
    assert found(unused, ("arange(n)", "arange(n, device=self.linear.weight.device)")) == []
    used = text.replace("return ", "print(device)\n        return ")
    assert found(used, ("n, device=device", "n, device=self.linear.weight.device")) == []


GRIDS = """import torch

grids = {{}}

def grid(x):
    key = {key}
    if key not in grids:
        rows = torch.arange(x.shape[0])
        grids[key] = rows[:, None].expand(x.shape)
    return grids[key]
"""
ON_ARGUMENT = ("torch.arange(x.shape[0])", "torch.arange(x.shape[0], device=x.device)")


@pytest.mark.parametrize(("key", "expected"), [("str(x.shape)", ["strong"]), ("(x.shape, x.device)", [])])
def test_a_table_that_is_kept_for_a_key_without_a_device(key: str, expected: list[str]) -> None:
    assert strengths(GRIDS.format(key=key), ON_ARGUMENT, {}) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("torch.nn.Linear(x.shape[-1], 4)", []),  # a submodule goes with its module
        ("torch.arange(4)", ["weak"]),
        ("torch.FloatTensor([4])", ["weak"]),
    ],
)
def test_what_a_module_makes_at_its_first_call(made: str, expected: list[str]) -> None:
    first = f"        if self.late is None:\n            self.late = {made}\n"
    text = f"{HEAD}        self.late = None\n\n    def forward(self, x):\n{first}        return self.late\n"
    assert strengths(text, (made, f"{made}.to(x.device)"), {}) == expected
    assert strengths(text.replace("torch.nn.Module", "object"), (made, f"{made}.to(x.device)"), {}) == ["weak"]


CLASS = "import torch\n\nclass Latents:\n    def __init__(self, n):\n        self.mean = torch.ones(n)\n\n{}"
DRAW = "    def draw(self):\n        return self.mean.expand(2, 4) * 2\n"
GLOBAL = ("torch.ones(n)", "torch.ones(n, device=device)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from net import Latents\nprint(Latents(4).draw().numpy())\n", ["strong"]),
        ("from net import Latents\nrows = Latents(4).mean\nprint(rows.numpy())\n", ["strong"]),
        ("from net import Latents\nprint(Latents(4).draw().cpu().numpy())\n", []),
        ("from other import Cards\nprint(Cards(4).draw().numpy())\n", []),
    ],
)
def test_what_a_constructor_stores_and_a_method_returns_is_passed_to_numpy(text: str, expected: list[str]) -> None:
    assert strengths(CLASS.format(DRAW), GLOBAL, {"plot.py": text}) == expected
    given = CLASS.format(DRAW).replace("self, n", "self, n, device")
    assert found(given, GLOBAL, {"plot.py": text}) == []  # the caller chooses


def test_a_module_that_its_caller_never_moves() -> None:
    weight = ("torch.arange(4)", "torch.arange(4, device=self.linear.weight.device)")
    stays = "from net import Net\nprint(Net(None).ramp(2).numpy())\n"
    assert found(METHOD, weight, {"plot.py": stays}) == []
    assert strengths(METHOD, weight, {"plot.py": stays.replace("(None)", "(None).to(place)")}) == ["strong"]


MOVER = """import torch

class Graph:
    def __init__(self, x, mask=None):
        self.x, self.mask = x, mask

    def to(self, device):
        self.x = self.x.to(device)
        return self
"""


@pytest.mark.parametrize(
    ("test", "expected"),
    [("self.mask is not None", []), ("self.mask is None", ["weak"]), ("not hasattr(self, 'mask')", ["weak"])],
)
def test_what_is_kept_and_moved_in_each_call(test: str, expected: list[str]) -> None:
    moved = f"        if {test}:\n            self.mask = self.mask.to(device)\n        return self"
    assert strengths(MOVER, ("        return self", moved)) == expected


@pytest.mark.parametrize(
    ("device", "expected"),
    [("next(net.parameters()).device", []), ("net.weight.device", []), ("next(NET.parameters()).device", ["strong"])],
)
def test_the_device_of_a_module_that_the_constructor_is_given(device: str, expected: list[str]) -> None:
    text = "import torch\n\nclass Meter:\n    def __init__(self, net):\n        self.total = torch.zeros(2)\n"
    other = {"other.py": "from net import Meter\nprint(Meter(net).total.numpy())\n"}
    assert strengths(text, ("torch.zeros(2)", f"torch.zeros(2, device={device})"), other) == expected


ARRAY = """import numpy as np
import torch

def main(x, device):
    store = np.zeros(4)
    target = torch.from_numpy(store)
    target += x
    print(store.sum())
"""
WRITTEN = replace(failure(7, 6, 3), op="aten::add_")
INTO = Operand("self", "cpu", history=(Event("numpy", "torch.from_numpy", "cpu"),))


@pytest.mark.parametrize(
    "change", [("(store)\n", "(store).to(device)\n"), ("target += x", "target = target.to(device)")]
)
def test_an_array_that_is_read_after_its_tensor_was_written(change: tuple[str, str]) -> None:
    written = {"failed": replace(WRITTEN, operands=(INTO, Operand("other", "cuda:0")))}
    assert strengths(ARRAY, change, **written) == ["strong"]
    assert found(ARRAY.replace("print(store.sum())", "print(target.sum())"), change, **written) == []
    read = {"failed": replace(WRITTEN, op="aten::add", operands=written["failed"].operands)}
    assert found(ARRAY, change, **read) == []


@pytest.mark.parametrize(
    ("default", "devices", "strength"),
    [
        ("'cuda'", ("cuda:0", "cuda:1"), "weak"),
        ("'cuda'", ("cuda:0", "cpu"), "strong"),
        ("None", ("cuda:0", "cuda:1"), "strong"),
    ],
)
def test_a_parameter_that_is_the_current_gpu_by_default(default: str, devices: tuple[str, str], strength: str) -> None:
    text = f"import torch\n\ndef one_hot(x, n, *, device={default}):\n    return torch.zeros(n, device=device)[x]\n"
    failed = replace(failure(4, 4, 1), operands=tuple(map(Operand, ("self", "index"), devices)))
    (objection,) = found(text, ("(n, device=device)", "(n, device=x.device)"), failed=failed)
    assert objection.strength == strength and "parameter `device`" in objection.reason


STATISTICS = """import torch

class Statistics:
    def __init__(self, n):
        self.counts = torch.zeros(n)

    def add(self, x):
        self.counts += x

    def __getstate__(self):
        return {}
"""
SCRIPT = """from stats import Statistics

def main(device):
    stats = Statistics(3)
    stats.add(rows)
"""


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ('{"counts": self.counts.numpy()}', ["strong"]),
        ('{"counts": np.asarray(self.counts[1:])}', ["strong"]),
        ('{"counts": self.counts.cpu().numpy()}', []),
        ('{"counts": self.counts.tolist()}', []),
        ('{"counts": other.counts.numpy()}', []),
    ],
)
def test_a_state_that_the_class_passes_to_numpy(state: str, expected: list[str]) -> None:
    text = STATISTICS.replace("return {}", f"return {state}")
    within = ("self.counts += x", "self.counts = self.counts.to(x.device)\n        self.counts += x")
    outside = ("(3)\n", "(3)\n    stats.counts = stats.counts.to(device)\n")
    assert strengths(text, within, {"main.py": SCRIPT}) == expected
    assert strengths(SCRIPT, outside, {"stats.py": text}) == expected


def test_another_class_with_an_attribute_of_that_name() -> None:
    other = STATISTICS.replace("Statistics", "Others").replace("return {}", "return self.counts.numpy()")
    outside = ("(3)\n", "(3)\n    stats.counts = stats.counts.to(device)\n")
    assert strengths(SCRIPT, outside, {"stats.py": STATISTICS, "others.py": other}) == []
