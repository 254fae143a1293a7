"""The workflow that tests on simulated GPUs: its steps are run as a runner runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from suite_runs import NAMED

WORKFLOW = Path(__file__).parents[2] / "examples" / "workflows" / "test-on-simulated-gpus.yml"
TESTS = """
import torch

def test_sum():
    device = "cuda:1" if torch.cuda.device_count() == 2 else "cpu"
    assert (torch.ones(2, device=device) + torch.ones(2{where})).sum().item() == 4
"""


def steps() -> dict[str, str]:
    (job,) = yaml.safe_load(WORKFLOW.read_text())["jobs"].values()
    return {step["name"]: step["run"] for step in job["steps"] if "run" in step}


def test_the_job_can_only_read() -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text())
    (job,) = workflow["jobs"].values()
    assert (workflow["permissions"], job["permissions"]) == ({}, {"contents": "read"})
    assert job["steps"][0]["with"]["persist-credentials"] is False
    assert "secrets." not in WORKFLOW.read_text()


@pytest.mark.slow
def test_the_steps_pass_for_a_suite_without_a_bug_and_fail_for_one_with(tmp_path: Path) -> None:
    cpu, gpu = [run for run in steps().values() if run.startswith("pytest")]
    told = []
    for where in (", device=device", ""):
        (tmp_path / "test_it.py").write_text(TESTS.format(where=where))
        for run in (cpu, gpu):
            environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
            environment["PYTEST_ADDOPTS"] = " ".join([*NAMED, "-p no:cacheprovider"])
            done = subprocess.run(["bash", "-e", "-c", run], cwd=tmp_path, env=environment, capture_output=True)
            told.append(done.returncode)
    assert told == [0, 0, 0, 1]
