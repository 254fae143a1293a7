"""Repairs on machines with other accelerators than CUDA's, and fixes that must hold on those a repository supports."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repositories import make_repository

import devfix
from devfix.errors import UserError
from devfix.report.render.machine_readable.json import read, write
from devfix.report.types import FixRecord

pytestmark = pytest.mark.slow
DEVICES = {"mps": "mps"}

PICK = """
def pick():
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
"""
MIXED = f"""import torch

{PICK}

device = pick()
mask = torch.zeros(2, 1)
print((torch.ones(2, 2, device=device) + mask).sum().item())
"""


def fixed(root: Path, world: str) -> FixRecord:
    report = read(write(devfix.repair(root, run="python main.py", world=world, test=False)))
    assert report.outcome == "repaired" and report.world and report.world.device.value == DEVICES.get(world, "cuda")
    (fix,) = report.fixes
    return fix


def test_a_fix_on_mps_is_run_on_cuda_too(tmp_path: Path) -> None:
    fix = fixed(make_repository(tmp_path / "program", {"main.py": MIXED}), "mps")
    assert fix.verdict.worlds == {"mps": "clean", "cpu": "clean", "cuda x1": "clean"}


def test_a_fix_on_cuda_is_run_on_mps_where_the_code_asks_for_it(tmp_path: Path) -> None:
    fix = fixed(make_repository(tmp_path / "program", {"main.py": MIXED}), "simulated")
    assert fix.verdict.worlds["mps"] == "clean" and "xpu x1" not in fix.verdict.worlds


def test_the_configuration_says_which_are_supported(tmp_path: Path) -> None:
    files = {"main.py": MIXED, "pyproject.toml": '[tool.devfix]\ndevices = ["xpu"]\n'}
    fix = fixed(make_repository(tmp_path / "program", files), "simulated")
    assert "mps" not in fix.verdict.worlds and fix.verdict.worlds["xpu x1"] == "clean"


def test_a_document_claims_too_and_a_claim_that_never_held_drops_no_fix(tmp_path: Path) -> None:
    choice = 'device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else "cpu"'
    program = MIXED.replace(PICK, "").replace("device = pick()", choice)
    program += "torch.ones(1, dtype=torch.float64, device=device)\n"
    root = make_repository(tmp_path / "program", {"main.py": program, "README.md": "Use `--device mps` on a Mac.\n"})
    report = devfix.repair(root, run="python main.py", world="simulated", test=False)
    (fix,) = read(write(report)).fixes
    assert fix.verdict.outcome == "verified" and "mps" in fix.verdict.worlds
    assert any("README.md:1 says that mps is supported" in note for note in report.notes)


DOUBLE = f"""import torch

{PICK}

scale = torch.ones(2, dtype=torch.float64).cuda()
print((torch.ones(2, dtype=torch.float64).cuda() * scale).sum().item())
"""


def test_a_choice_under_which_a_supported_accelerator_fails_comes_after_one_that_holds(tmp_path: Path) -> None:
    fix = fixed(make_repository(tmp_path / "program", {"main.py": DOUBLE}), "cpu")
    assert fix.verdict.worlds["mps"] == "clean" and all("accelerator" not in edit.diff for edit in fix.edits)


def test_on_a_mac_the_accelerator_is_used_and_what_it_lacks_is_repaired_next(tmp_path: Path) -> None:
    report = devfix.repair(
        make_repository(tmp_path / "program", {"main.py": DOUBLE.replace(PICK, "")}),
        run="python main.py",
        world="mps",
        test=False,
    )
    rules = [fix.rule for fix in read(write(report)).fixes]
    assert rules[0] == "device/gpu-taken-for-granted" and set(rules[1:]) == {"boundary/float64-on-mps"}


def test_a_mac_has_one_gpu(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "program", {"main.py": MIXED})
    with pytest.raises(UserError, match="--world mps: such a machine has one GPU; leave out --gpus 2"):
        devfix.repair(root, run="python main.py", world="mps", gpus=2)
