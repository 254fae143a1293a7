"""Layers that a program meant to train, and that an optimizer gets by the fix: other results on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repositories import make_repository

import devfix
from devfix.model import Edit, Outcome, Report, Run, Untrained, World
from devfix.report.render.machine_readable.json import read, write
from devfix.report.render.terminal.text import text
from devfix.verification.checks.newly_trained import newly_trained, training_request

PROGRAM = """import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2) for _ in range(2)]
        self.head = nn.Linear(2, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def train(net, groups, device):
    optimizers = [torch.optim.SGD(each, lr=0.1) for each in groups]
    for _ in range(3):
        loss = net(torch.ones(1, 2, device=device)).square().sum()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        for optimizer in optimizers:
            optimizer.zero_grad()
        print(f"{loss.item():.4f}")
"""
MAIN = """
if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net = Net().to(device)
    train(net, GROUPS, device)
"""
TUNE = """from main import Net, train

net = Net()
train(net, [net.parameters()], "cpu")
"""
LISTED = "self.layers = [nn.Linear(2, 2) for _ in range(2)]"
REGISTERED = "self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])"


def repaired(folder: Path, groups: str) -> Report:
    main = PROGRAM + MAIN.replace("GROUPS", groups)
    root = make_repository(folder / "project", {"main.py": main, "tune.py": TUNE})
    return devfix.repair(root, run="python main.py", world="simulated")


@pytest.mark.slow
def test_layers_that_no_optimizer_has_are_registered_and_trained(tmp_path: Path) -> None:
    """Both commands print other losses, as they should: neither is an objection."""
    report = repaired(tmp_path, "[net.parameters()]")
    (repair,) = report.repairs
    assert repair.fix is not None and f"+        {REGISTERED}" in repair.fix.diff
    effect = (
        "The results change on every device: the 4 parameters in `layers` of Net are trained now, "
        "which no optimizer had before"
    )
    assert repair.fix.verdict.effects == (effect,)
    assert (
        report.others is not None
        and report.others.ran
        and {each.comparison for each in report.others.ran} <= {"as before", "better"}
    )
    shown = read(write(report))
    assert shown.fixes[0].verdict.effects == (effect,)
    assert effect in " ".join(text(shown).split())


@pytest.mark.slow
def test_layers_that_an_optimizer_has_already_are_not_given_to_it_again(tmp_path: Path) -> None:
    own = "[each for layer in net.layers for each in layer.parameters()]"
    (repair,) = repaired(tmp_path, f"[net.parameters(), {own}]").repairs
    assert repair.fix is not None and not repair.fix.verdict.effects
    assert "ModuleList" not in repair.fix.diff and "+            layer.to(x.device)" in repair.fix.diff


def edit(after: str) -> tuple[Edit, ...]:
    return (Edit("main.py", 1, LISTED.encode(), after.encode()),)


@pytest.mark.parametrize(
    ("after", "untrained", "is_effect"),
    [
        (REGISTERED, (Untrained("Net", "layers", 4, 12),), True),
        (REGISTERED, (), False),
        (REGISTERED, (Untrained("Net", "others", 4, 12),), False),
        (f"{REGISTERED}\nself.heads = nn.ModuleList(heads)", (Untrained("Net", "layers", 4, 12),), False),
        (f"{LISTED}\nself.layers_modules = nn.ModuleList(self.layers)", (Untrained("Net", "layers", 4, 12),), True),
        (LISTED, (Untrained("Net", "layers", 4, 12),), False),
    ],
)
def test_all_that_is_registered_must_have_been_meant_to_be_trained(
    after: str, untrained: tuple[Untrained, ...], is_effect: bool
) -> None:
    before = Run(World("cpu"), (), Outcome.CLEAN, 0, 1.0, untrained=untrained)
    assert bool(newly_trained(edit(after), before)) is is_effect


def test_a_run_is_asked_for_the_container_in_use_too() -> None:
    assert training_request(edit(f"{LISTED}\nself.layers_modules = nn.ModuleList(self.layers)")).untrained == (
        "layers",
        "layers_modules",
    )
    assert not training_request(edit(LISTED)).untrained
