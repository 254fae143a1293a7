"""What speaks against registering modules where code goes over all that a module registers."""

from __future__ import annotations

import pytest
from objection_cases import BUFFER, LIST, MODULES, NET, found, strengths

IMPORT = "import torch\nfrom net import Net\nnet = Net()\n"
APART = "[p for each in net.scale for p in each.parameters()]"
BESIDE = (
    "self.scale = [torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)]",
    "self.scale = [torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)]\n"
    "        self.scale_modules = torch.nn.ModuleList(self.scale)",
)

EVAL = (
    "self.scale = [torch.nn.Linear(4, 4).eval(), torch.nn.Linear(4, 4)]",
    "self.scale = torch.nn.ModuleList([torch.nn.Linear(4, 4).eval(), torch.nn.Linear(4, 4)])",
)


@pytest.mark.parametrize("change", [MODULES, BESIDE])
@pytest.mark.parametrize(
    ("text", "strength"),
    [
        (f"optimizer = torch.optim.SGD([{{'params': net.parameters()}}, {{'params': {APART}}}])\n", "strong"),
        (f"for p in net.parameters():\n    p.requires_grad_(False)\noptimizer = torch.optim.SGD({APART})\n", "strong"),
        (f"print(sum(p.numel() for p in {APART}))\n", "weak"),
        ("trained = []\nfor each in net.scale:\n    trained += each.parameters()\n", "weak"),
    ],
)
def test_parameters_that_are_taken_apart(change: tuple[str, str], text: str, strength: str) -> None:
    (objection,) = found(LIST, change, {"other.py": IMPORT + text})
    assert objection.strength == strength and "`net.scale`" in objection.reason


@pytest.mark.parametrize(
    "text",
    [
        "layers = torch.nn.Sequential(*net.children())\n",
        "layers = dict(Net().named_children())\n",
        "net.apply(reset)\n",
        "class Wide(Net):\n    def reset(self):\n        self.apply(reset)\n",
    ],
)
def test_code_that_reaches_all_modules(text: str) -> None:
    assert strengths(LIST, MODULES, {"other.py": IMPORT + text}) == ["strong"]


def test_modules_that_are_kept_in_evaluation_mode() -> None:
    train = {"train.py": IMPORT + "net.train()\n"}
    assert strengths(LIST.replace("[torch.nn.Linear(4, 4), ", "[torch.nn.Linear(4, 4).eval(), "), EVAL, train) == [
        "strong"
    ]
    later = LIST.replace(
        "\n    def forward", "        for each in self.scale:\n            each.eval()\n\n    def forward"
    )
    assert strengths(later, MODULES, train) == ["strong"]
    assert strengths(later, MODULES) == []
    assert strengths(LIST, MODULES, train) == []


@pytest.mark.parametrize(
    "text",
    [
        "optimizer = torch.optim.SGD(net.parameters())\n",
        "for each in net.scale:\n    print(each)\n",
        "other = torch.nn.Linear(1, 1)\nother.apply(reset)\nframe.apply(print)\n",
        "optimizer = torch.optim.SGD([*torch.nn.Linear(1, 1).parameters(), *net.parameters()])\n",
    ],
)
def test_code_that_stays_right(text: str) -> None:
    assert found(LIST, MODULES, {"other.py": IMPORT + text}) == []


def test_code_of_the_constructor_that_every_run_executes() -> None:
    assert found(LIST.replace("\n    def forward", "        self.apply(print)\n\n    def forward"), MODULES) == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["self.scale = self.build(8).to(device)"], []),
        (["self.scale = self.load(8)"], ["weak"]),
        (["scale = self.scale", "scale = F.normalize(scale, dim=0)", "self.scale = scale"], []),
        (["scale = self.scale", "scale = load(scale)", "self.scale = scale"], ["weak"]),
        (["scale = self.scale", "scale = 0.5", "self.scale = scale"], ["strong"]),
    ],
)
def test_what_a_method_computes_as_the_constructor_does(lines: list[str], expected: list[str]) -> None:
    text = NET.replace("torch.ones(4)", "self.build(4)")
    change = BUFFER[0].replace("torch.ones(4)", "self.build(4)"), BUFFER[1].replace("torch.ones(4)", "self.build(4)")
    method = "".join(f"\n        {each}" for each in lines)
    assert strengths(f"{text}\n    def step(self, device):{method}\n", change) == expected
