"""The moves of modules that register no tensor, which move nothing and are recorded all the same."""

from __future__ import annotations

from pathlib import Path

from probe_programs import run_program

from devfix.execution.prefork import PreforkServer

PROGRAM = """
import torch

class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.ones(2)

class Own(Loss):
    def to(self, device):
        return self._apply(lambda each: each)

def run():
    kept, moved, back, cast, odd, own = Loss(), torch.nn.Sequential(Loss()), Loss(), Loss(), Loss(), Own()
    moved.to("cuda")
    back.cuda(0).cpu().cuda("cuda:0")
    cast.to(torch.float64)
    odd.cuda("nonsense").cuda(7)
    own.to(object())
    torch.ones(2, device="cuda") + torch.ones(2)

run()
"""


def test_a_module_that_registers_nothing_has_its_moves(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(tmp_path, PROGRAM, warm=warm)
    assert ran.trace["internal_errors"] == []
    moves = {
        each["expression"]: [event["device"] for event in each["history"] if event["kind"] == "move"]
        for each in ran.failure["frames"][-1]["scope"]
        if each["kind"] == "module"
    }
    told = {"moved": ["cuda:0"], "moved[0]": ["cuda:0"], "back": ["cuda:0", "cpu", "cuda:0"], "odd": ["cuda:7"]}
    assert moves == {"kept": [], "cast": [], "own": [], **told}


def test_without_a_gpu_one_is_moved_to_it_as_pytorch_does(tmp_path: Path, warm: PreforkServer) -> None:
    program = """
    import torch
    loss = torch.nn.MSELoss()
    loss.cuda().to("cuda").to("xpu")
    print("not refused", torch.cuda.is_initialized())
    torch.ones(2).numpy().missing
    """
    ran = run_program(tmp_path, program, warm=warm, kind="cpu")
    assert "not refused False" in ran.done.stdout, ran.done.stderr
