"""What speaks against a patch in code that no run has reached."""

from __future__ import annotations

import ast

import pytest
from objection_cases import BUFFER, HELPER, LIST, MODULES, MOVED, NET, found, strengths

from devfix.verification.objections.code import Code

FORWARD = NET.replace("self.linear(x) * self.scale", "self.linear(torch.ones(x, 4))")
WEIGHT = ("torch.ones(x, 4)", "torch.ones(x, 4, device=self.linear.weight.device)")
CACHE = """import torch
KNOWN = {}
def positions(n, like):
    if n not in KNOWN:
        KNOWN[n] = torch.arange(n)
    return KNOWN[n]
"""
AT_CREATION = ("torch.arange(n)", "torch.arange(n, device=like.device)")
METHOD = "\n    def calibrate(self, value):\n        self.scale = {}\n"


@pytest.mark.parametrize("value", ["float(value)", "0.5", "[1.0, 2.0]", "value.item()", "-1", "numpy.ones(4)"])
def test_a_buffer_that_a_method_gives_something_else(value: str) -> None:
    (objection,) = found(NET + METHOD.format(value), BUFFER)
    assert objection.strength == "strong" and "a buffer takes tensors alone" in objection.reason


@pytest.mark.parametrize(
    "value",
    ["torch.zeros(4)", "None", "torch.zeros(4) * 2", "torch.rand(4).exp()", "self.scale * 0.9 + value * 0.1"],
)
def test_a_buffer_that_a_method_gives_a_tensor(value: str) -> None:
    assert found(NET + METHOD.format(value), BUFFER) == []


def test_a_buffer_that_a_method_gives_its_argument_is_doubtful() -> None:
    assert strengths(NET + METHOD.format("value"), BUFFER) == ["weak"]
    assert strengths(NET + METHOD.format("value").replace("value)", "value: float)", 1), BUFFER) == ["strong"]
    assert strengths(NET + METHOD.format("value").replace("value)", "value: torch.Tensor)", 1), BUFFER) == []


@pytest.mark.parametrize(
    "text",
    [
        "from net import Net\nnet = Net().to('cpu')\nnet.scale = 3.0\n",
        "from net import Net\nnet = Net()\nsetattr(net, 'scale', 3.0)\n",
        "from net import Net\nclass Wide(Net):\n    def reset(self):\n        self.scale = 1\n",
        "from net import Net\nclass Wide(Net):\n    scale = 1\n",
        "from net import Net\nclass Wide(Net):\n    @property\n    def scale(self):\n        return 1\n",
    ],
)
def test_other_files_that_give_a_buffer_something_else(text: str) -> None:
    assert strengths(NET, BUFFER, {"other.py": text}) == ["strong"]


@pytest.mark.parametrize(
    "text",
    [
        "class Other:\n    def reset(self):\n        self.scale = 1\n",
        "from net import Net\nnet = Net()\nprint(net.scale)\nscale = 3\n",
        "import torch\nx = torch.ones(3).half()\nmask = x.to(torch.float64)\n",
        "from net import Net\nnet = Net()\nfor b in net.buffers():\n    b.copy_(b.cpu())\n",
    ],
)
def test_what_does_not_speak_against_a_buffer(text: str) -> None:
    assert found(NET, BUFFER, {"other.py": text}) == []


@pytest.mark.parametrize(
    "written", ["self.scale += 1", "self.scale[0] = 1", "self.scale.add_(1)", "self.scale = value"]
)
def test_a_buffer_that_is_written_by_replicas(written: str) -> None:
    text = NET + f"\n    def count(self, value: torch.Tensor):\n        {written}\n"
    train = "import torch\nfrom net import Net\nnet = torch.nn.DataParallel(Net())\n"
    processes = train.replace("DataParallel", "parallel.DistributedDataParallel")
    assert strengths(text, BUFFER, {"train.py": train}) == ["strong"]
    assert strengths(text, BUFFER, {"train.py": processes}) == ["weak"]
    apart = processes.replace("Net())", "Net(), broadcast_buffers=False)")
    assert strengths(text, BUFFER, {"train.py": apart}) == strengths(text, BUFFER) == []
    assert strengths(NET, BUFFER, {"train.py": train}) == []


@pytest.mark.parametrize(
    ("parameter", "value", "text"),
    [
        ("offset", "torch.ones(4) * offset", "net = DistributedDataParallel(Net(int(os.environ['RANK']) + rank))\n"),
        ("rank", "torch.ones(4) * rank", "def work(number):\n    return DDP(Net(number))\n"),
        ("offset", "torch.ones(4) * dist.get_rank()", "net = DDP(Net(0))\n"),
    ],
)
def test_a_buffer_of_the_rank_of_its_process(parameter: str, value: str, text: str) -> None:
    net = NET.replace("__init__(self)", f"__init__(self, {parameter})", 1).replace("torch.ones(4)", value)
    change = (f"self.scale = {value}", f'self.register_buffer("scale", {value}, persistent=False)')
    assert strengths(net, change, {"train.py": f"from net import Net\n{text}"}) == ["strong"]
    alone = text.replace("DDP(", "(").replace("DistributedDataParallel(", "(")
    assert strengths(net, change, {"train.py": f"from net import Net\n{alone}"}) == []


def test_modules_that_join_the_state_dict() -> None:
    strict = {"resume.py": "import torch\nfrom net import Net\nNet().load_state_dict(torch.load('a.pt'))\n"}
    assert strengths(LIST, MODULES, strict)[:1] == ["strong"]
    assert strengths(LIST, MODULES, {"resume.py": "Net().load_state_dict(old, strict=False)\n"}) == []
    assert strengths(LIST, MODULES, {"train.py": "optimizer.load_state_dict(old)\n"}) == []
    assert strengths(LIST, MODULES, {"train.py": "torch.save(net.state_dict(), 'a.pt')\n"}) == ["weak"]
    assert found(LIST, MODULES) == []
    frozen = LIST.replace(
        "return self.linear(x)", "with torch.no_grad():\n            y = self.scale[0](x)\n        return y"
    )
    assert strengths(frozen.replace(" * self.scale\n", "\n"), MODULES) == ["strong"]


def test_a_weight_that_a_layer_may_not_have() -> None:
    assert found(FORWARD, WEIGHT) == []
    quantised = (
        "import torch\nfrom net import Net\nnet = torch.ao.quantization.quantize_dynamic(Net(), {torch.nn.Linear})\n"
    )
    assert strengths(FORWARD, WEIGHT, {"quantise.py": quantised}) == ["strong"]
    layer = "torch.nn.Linear(4, 4)"
    assert strengths(FORWARD.replace(layer, f"{layer} if True else torch.nn.Identity()"), WEIGHT) == ["strong"]
    assert strengths(FORWARD, WEIGHT, {"prune.py": "net.linear = torch.nn.Identity()\n"}) == ["strong"]


def test_a_value_that_is_kept_on_the_device_of_one_call() -> None:
    assert strengths(CACHE, AT_CREATION) == ["strong"]
    assert (
        found(CACHE.replace("[n]", "[n, like.device]").replace("n not in", "(n, like.device) not in"), AT_CREATION)
        == []
    )
    assert found(CACHE.replace("KNOWN[n] = ", "made = "), AT_CREATION) == []


@pytest.mark.parametrize("update", ["KNOWN[n] += 1", "KNOWN[n].mul_(2)"])
def test_what_is_changed_after_it_was_kept_is_state_and_no_cache(update: str) -> None:
    state = CACHE.replace("    return KNOWN[n]", f"    {update}\n    return KNOWN[n]")
    assert strengths(state, AT_CREATION) == ["weak"]
    assert strengths(CACHE.replace("KNOWN[n]\n", "KNOWN[n].mul(2)\n"), AT_CREATION) == ["strong"]


def test_files_that_cannot_be_read_say_nothing() -> None:
    assert found(NET, BUFFER, {"broken.py": "def scale(:\n", "other.py": "scale = (\n"}) == []


def test_a_method_of_an_attribute_that_is_given_a_number_elsewhere() -> None:
    at_use = ("(x) * self.scale", "(x) * self.scale.to(x.device)")
    (objection,) = found(NET + METHOD.format("float(value)"), at_use)
    assert objection.strength == "strong" and "which has no `.to`" in objection.reason
    assert found(NET + METHOD.format("value"), at_use) == []


def test_a_call_of_another_function_with_the_name_says_nothing() -> None:
    for text in (
        "bar.scaled(1, 2)\n",
        "def scaled(x, factor):\n    pass\nscaled(1, 2)\n",
        "import other\nother.scaled(1, 2)\n",
    ):
        assert found(HELPER, MOVED, {"plain.py": text}) == [], text
    for text in ("import net\nnet.scaled(torch.ones(1), 2)\n", "from net import *\nscaled(torch.ones(1), 2)\n"):
        assert strengths(HELPER, MOVED, {"plain.py": text}) == ["strong"], text


def test_calls_of_a_method_are_those_on_objects_of_its_class() -> None:
    meter = "class Meter:\n    def update(self, value):\n        self.total += value\n"
    at_use = ("+= value", "+= value.cpu()")
    assert (
        found(
            meter,
            at_use,
            {"other.py": "from tqdm import tqdm\nbar = tqdm()\nbar.update(1)\nseen = {}\nseen.update([])\n"},
        )
        == []
    )
    assert strengths(meter, at_use, {"other.py": "from net import Meter\nmeter = Meter()\nmeter.update(1)\n"}) == [
        "strong"
    ]
    assert strengths(meter, at_use, {"other.py": "from net import Meter\nMeter().update(1)\n"}) == ["strong"]


def test_memory_that_is_shared_with_other_processes_stays_on_the_host() -> None:
    shared = "import torch\ndef main(device):\n    done = torch.zeros(3)\n    done.share_memory_()\n    return done\n"
    at_creation = ("torch.zeros(3)", "torch.zeros(3, device=device)")
    assert strengths(shared, at_creation) == ["strong"]
    assert found(shared.replace("done.share_memory_()", "print(done)"), at_creation) == []


SETTER = NET + "\n    def tune(self, value):\n        self.scale = 1 / value\n"
AT_USE = ("* self.scale", "* self.scale.to(x.device)")


@pytest.mark.parametrize(("passed", "expected"), [("2.0", ["strong"]), ("torch.ones(4)", []), ("given", [])])
def test_what_callers_pass_tells_what_an_attribute_is_given(passed: str, expected: list[str]) -> None:
    tune = f"from net import Net\n\nnet = Net()\nnet.tune({passed})\n"
    said = found(SETTER, AT_USE, {"tune.py": tune})
    assert [each.strength for each in said] == expected
    assert all(each.numbers == "self.scale" for each in said)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["grid = np.eye(4)", "if value:", "    grid = grid @ turn(value)"], ["strong"]),
        (["grid = np.eye(4)", "grid = torch.from_numpy(grid)"], []),
        (["grid = 0", "for each in value:", "    grid = grid + each"], []),
        (["grid = turn(value)"], []),
    ],
)
def test_an_attribute_that_is_an_array_elsewhere(lines: list[str], expected: list[str]) -> None:
    body = "".join(f"        {each}\n" for each in [*lines, "self.scale = grid"])
    said = found(f"import numpy as np\n{NET}\n    def tune(self, value):\n{body}", AT_USE)
    assert [each.strength for each in said] == expected
    assert all(each.numbers == "self.scale" for each in said)


def test_a_tensor_or_the_number_that_is_a_default() -> None:
    either = SETTER.replace("value)", "value=1.0)").replace(
        "1 / value", "torch.tensor(value) if many(value) else value"
    )
    (objection,) = found(either, AT_USE)
    assert (objection.strength, objection.numbers) == ("strong", "self.scale")
    asked = "* (self.scale.to(x.device) if torch.is_tensor(self.scale) else self.scale)"
    assert found(either, ("* self.scale", asked)) == []


@pytest.mark.parametrize(
    ("passed", "expected"), [("torch.ones(4, 2)", []), ("rows", ["weak"]), ("np.ones(4)", ["strong"])]
)
def test_a_buffer_that_is_computed_of_what_callers_pass(passed: str, expected: list[str]) -> None:
    fit = "\n    def fit(self, rows):\n        self.scale = rows.mean(0)\n"
    assert (
        strengths(NET + fit, BUFFER, {"fit.py": f"from net import Net\n\nnet = Net()\nnet.fit({passed})\n"}) == expected
    )


@pytest.mark.parametrize(
    ("given", "numbers"),
    [("[3, 2]", "factor"), ("lengths.tolist()", "factor"), ("-1.5", "factor"), ("'many'", ""), ("{1: 2}", "")],
)
def test_a_caller_that_passes_numbers(given: str, numbers: str) -> None:
    other = f"from net import scaled\n\nscaled(tensor, {given})\n"
    assert [each.numbers for each in found(HELPER, MOVED, {"other.py": other})] == [numbers]


@pytest.mark.parametrize(
    "text",
    [
        "class Plain(Net):\n    pass\nPlain(2.0)\n",
        "class Plain(Net):\n    pass\nclass Plainer(Plain):\n    pass\nPlainer(scale=2.0)\n",
        "class Own(Net):\n    def __init__(self):\n        super().__init__(2.0)\n",
    ],
)
def test_what_a_class_that_derives_passes_to_the_constructor(text: str) -> None:
    net = NET.replace("__init__(self):", "__init__(self, scale):").replace("torch.ones(4)", "scale")
    moved = ("self.scale = scale", "self.scale = scale.to('cuda')")
    assert strengths(net, moved, {"other.py": f"from net import Net\n{text}"}) == ["strong"]
    another = text.replace("Plain(2.0)", "Plain(given)").replace("Plainer(scale=2.0)", "").replace("(2.0)", "(given)")
    assert strengths(net, moved, {"other.py": f"from net import Net\n{another}"}) == []


def test_candidates_share_what_was_parsed() -> None:
    files = {"net.py": b"x = 1\n", "main.py": b"import net\n"}
    parsed: dict[tuple[str, bytes], ast.Module | None] = {}
    one, two = (Code(changed, files.get, lambda texts: list(files), parsed) for changed in ({}, {"net.py": b"x = 2\n"}))
    assert one.tree("main.py") is two.tree("main.py") is two.committed_tree("main.py")
    assert one.tree("net.py") is two.committed_tree("net.py") is not two.tree("net.py")
