"""A repository with bugs that only a GPU shows, and `devfix find` run on it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from git_repositories import make_repository

LIBRARY = """
import torch

def shifted(x):
    return x + torch.ones(len(x))

def scaled(x):
    return x * torch.ones(len(x))
"""
FINDS = """
import torch
from library import shifted

def test_shifted():
    shifted(torch.ones(2))
"""


def searched_repository(folder: Path, **tests: str) -> Path:
    files = {f"tests/test_{name}.py": text for name, text in tests.items()}
    return make_repository(
        folder / "project", {"pytest.ini": "[pytest]\npythonpath = .\n", "library.py": LIBRARY, **files}
    )


def command(root: Path, *arguments: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "devfix",
        "find",
        str(root),
        "--python",
        sys.executable,
        "--format",
        "json",
        *arguments,
    ]


def find(root: Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(command(root, *arguments), capture_output=True, text=True)
    assert done.returncode in (0, 1, 2), done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    shown = ("findings", "known", "artefacts", "failed_lifted", "passed_lifted", "passed_on_gpu_alone")
    is_searched = any(told[name] for name in shown)
    assert done.returncode == (bool(told["findings"]) if is_searched else 2), done.stderr
    return told
