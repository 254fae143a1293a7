"""`devfix find --world mps|xpu`: tests lifted to another accelerator than CUDA's, and repaired there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from searches import command, find, searched_repository

pytestmark = pytest.mark.slow
SCALED = """
import torch
from library import scaled

def test_scaled():
    scaled(torch.ones(2))

def test_double():
    scaled(torch.ones(2, dtype=torch.float64))
"""


def test_a_search_on_a_mac_has_one_pass_and_repairs_there(tmp_path: Path) -> None:
    root = searched_repository(tmp_path, scaled=SCALED)
    folder = tmp_path / "found"
    told = find(root, "--world", "mps", "--repair", "--no-silent", "--output", str(folder))
    (found,) = told["findings"]
    assert (
        found["devices"] == ["mps:0"] and found["confirmed"] and found["tests"] == ["tests/test_scaled.py::test_scaled"]
    )
    assert "second" not in told["seconds"] and "twice" not in told["seconds"]
    assert [each["test"] for each in told["artefacts"]] == ["tests/test_scaled.py::test_double"]
    assert found["fix"]["verdict"] == "verified" and "device=x.device" in found["fix"]["diff"]
    assert '"device": "mps"' in (folder / "1" / "report.json").read_text()


def test_a_search_on_xpu_is_made_on_one_gpu_where_one_is_asked_for(tmp_path: Path) -> None:
    told = find(searched_repository(tmp_path, scaled=SCALED), "--world", "xpu", "--gpus", "1", "--no-silent")
    assert [each["devices"] for each in told["findings"]] == [["xpu:0"]] and "second" not in told["seconds"]


def test_a_mac_has_one_gpu(tmp_path: Path) -> None:
    root = searched_repository(tmp_path, scaled=SCALED)
    done = subprocess.run(command(root, "--world", "mps", "--gpus", "2"), capture_output=True, text=True)
    assert done.returncode == 2 and "--world mps: such a machine has one GPU; leave out --gpus 2" in done.stderr
