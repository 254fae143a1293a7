"""Run the steps of a composite action as a GitHub runner does: its expressions, its variables, its files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
_PARTS = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "action.yml", ".github", "src", "rules")
Used = Callable[[Mapping[str, str]], Mapping[str, str]]


def copy_action(folder: Path) -> Path:
    """Copy what a runner downloads of this repository into a new folder, and return that."""
    folder.mkdir()
    for source in (ROOT / name for name in _PARTS):
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(source, folder / source.name, ignore=ignored)
        elif source.exists():
            shutil.copy(source, folder / source.name)
    return folder


@dataclass
class Runner:
    """One job: `event` is GitHub's word for why it runs; `used` stands for the actions that ours uses, by name."""

    action: Path
    workspace: Path
    temp: Path
    github: Mapping[str, str]
    used: Mapping[str, Used]
    variables: Mapping[str, str] = field(default_factory=dict)
    log: str = ""

    def run(self, **inputs: str) -> tuple[int, dict[str, str], str]:
        """Run the action with inputs (`_` for `-`); return the exit code, its outputs and the summary."""
        action = yaml.safe_load((self.action / "action.yml").read_text())
        given = {name: str(each.get("default", "")) for name, each in action["inputs"].items()}
        names: dict[str, Any] = {"github": dict(self.github), "runner": {"temp": str(self.temp)}, "steps": {}}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        names["inputs"] = {name: filled(value, names) for name, value in given.items()}
        summary = self.temp / "summary.md"
        summary.write_text("")
        code = 0
        for number, step in enumerate(action["runs"]["steps"]):
            if "if" in step and not _value(step["if"], names):
                continue
            output = self.temp / f"output-{number}"
            output.write_text("")
            if "uses" in step:
                fills = {name: filled(str(value), names) for name, value in step["with"].items()}
                outputs = dict(self.used[step["uses"].partition("@")[0]](fills))
            else:
                assert step["shell"] == "bash"
                environment = {name: filled(str(value), names) for name, value in step.get("env", {}).items()}
                code = self._bash(step["run"], environment, output, summary)
                outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
            names["steps"][step.get("id", str(number))] = {"outputs": outputs}
            if code:
                break
        told = {name: filled(each["value"], names) for name, each in action["outputs"].items()}
        return code, told, summary.read_text()

    def _bash(self, script: str, environment: Mapping[str, str], output: Path, summary: Path) -> int:
        file = self.temp / "step.sh"
        file.write_text(script)
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(file)],
            cwd=self.workspace,
            env={
                **kept,
                **{
                    f"GITHUB_{name.upper()}": value
                    for name, value in self.github.items()
                    if name not in ("token", "event")
                },
                **self.variables,
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(self.action),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_WORKSPACE": str(self.workspace),
                "RUNNER_TEMP": str(self.temp),
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.log += done.stdout
        return done.returncode


def filled(text: str, names: Mapping[str, Any]) -> str:
    """Return a text with its expressions replaced by their values."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(_value(found[1], names) or ""), text)


def _value(expression: str, names: Mapping[str, Any]) -> Any:
    """Evaluate the little of GitHub's expressions that the action uses."""
    for sign, combined in (
        ("||", lambda a, b: a or b),
        ("&&", lambda a, b: a and b),
        ("!=", lambda a, b: a != b),
        ("==", lambda a, b: a == b),
    ):
        left, found, right = expression.partition(sign)
        if found:
            return combined(_value(left, names), _value(right, names))
    word = expression.strip()
    if word.startswith("'"):
        return word.strip("'")
    value: Any = names
    for part in word.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
