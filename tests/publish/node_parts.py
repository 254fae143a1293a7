"""Install the parts that npm has into a cache folder, once; and keep of GitHub's contract what devfix asks for."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

_HERE = Path(__file__).parent / "node"
# Read before a test has a cache of its own: what npm installs is the same for all.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
_PATHS = (
    "/repos/{owner}/{repo}/pulls",
    "/repos/{owner}/{repo}/pulls/{pull_number}",
    "/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers",
    "/repos/{owner}/{repo}/issues/{issue_number}",
    "/repos/{owner}/{repo}/issues/{issue_number}/labels",
    "/repos/{owner}/{repo}/issues/{issue_number}/assignees",
    "/repos/{owner}/{repo}/milestones",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
    "/repos/{owner}/{repo}/issues",
    "/repos/{owner}/{repo}/collaborators/{username}/permission",
    "/repos/{owner}/{repo}/pulls/{pull_number}/files",
    "/repos/{owner}/{repo}/pulls/{pull_number}/reviews",
    "/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}",
    "/repos/{owner}/{repo}/pulls/{pull_number}/comments",
    "/repos/{owner}/{repo}/pulls/comments/{comment_id}",
)


def node_modules() -> Path:
    """Return the folder of the installed packages; skip where Node.js is missing or the packages cannot be had."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("needs Node.js with npm: the parts of these tests come from there")
    wanted = (_HERE / "package.json").read_bytes()
    kept = hashlib.sha256(wanted + "".join(_PATHS).encode()).hexdigest()
    folder = _CACHE / f"devfix-tests-{kept[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # where tests run side by side, one of them installs and the others wait
        if not (folder / "ready").exists():
            _install(npm, folder, wanted)
    return folder / "node_modules"


def _install(npm: str, folder: Path, wanted: bytes) -> None:
    (folder / "package.json").write_bytes(wanted)
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        pytest.skip(f"npm could not install the parts of these tests: {said[0][:200]}")
    _trim(folder)
    (folder / "ready").touch()


def _trim(folder: Path) -> None:
    """Keep the part of the contract that is asked for, word for word: Prism needs 20 seconds to read the whole."""
    generated = folder / "node_modules" / "@octokit" / "openapi" / "generated"
    contract = json.loads((generated / "api.github.com.json").read_bytes())
    contract["paths"] = {path: contract["paths"][path] for path in _PATHS}
    contract.pop("x-webhooks", None)
    needed, waiting = set(), [contract["paths"]]
    while waiting:
        for kind, name in _references(waiting.pop()):
            if (kind, name) not in needed:
                needed.add((kind, name))
                waiting.append(contract["components"][kind][name])
    contract["components"] = {
        kind: {name: each for name, each in found.items() if (kind, name) in needed}
        for kind, found in contract["components"].items()
    }
    (folder / "contract.json").write_text(json.dumps(contract))
    for file in generated.glob("*.json"):  # 400 MB
        file.unlink()


def _references(node: object) -> list[tuple[str, str]]:
    found, waiting = [], [node]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            target = inner.get("$ref")
            if isinstance(target, str) and target.startswith("#/components/"):
                found.append(tuple(target.split("/")[2:4]))
            waiting += inner.values()
        elif isinstance(inner, list):
            waiting += inner
    return found
