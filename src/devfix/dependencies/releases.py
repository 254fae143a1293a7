"""List the releases of a distribution, and install one of them into a folder of its own."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from devfix.dependencies.distributions import normalize_name
from devfix.process import child_environment, run

PATIENCE = 300.0  # seconds for pip to answer or install
_TELL_PATH = "import json, sys; print(); print(json.dumps(sys.path))"


def releases(python: Path, name: str) -> list[str]:
    """Return the final releases of a distribution that the interpreter's pip can install, newest first; [] if none."""
    command = [str(python), "-m", "pip", "index", "versions", name, "--disable-pip-version-check"]
    done = run(command, Path("/"), _environment(), PATIENCE)
    match = re.search(r"^Available versions:\s*(.+)$", done.stdout, re.MULTILINE)
    versions = [_version(each) for each in match[1].split(",")] if match else []
    return [str(each) for each in sorted((each for each in versions if each), reverse=True) if not each.is_prerelease]


def install(python: Path, name: str, version: str, folder: Path) -> str:
    """Install one release without its dependencies into `folder`; return "" or one line saying why it failed."""
    options = ["--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check", "--target", str(folder)]
    command = [str(python), "-m", "pip", "install", *options, f"{name}=={version}"]
    done = run(command, Path("/"), _environment(), PATIENCE)
    if done.exit_code == 0:
        return ""
    said = (done.internal_error or done.stderr).strip().splitlines()
    return said[-1] if said else "pip failed and said nothing"


def import_path(python: Path) -> list[str]:
    """Return the folders in which an interpreter finds distributions, in its order; [] if it does not start."""
    done = run([str(python), "-c", _TELL_PATH], Path("/"), _environment(), PATIENCE)
    return json.loads(done.stdout.splitlines()[-1]) if done.exit_code == 0 else []


def new_conflict(path: list[str], name: str, folder: Path) -> str:
    """Return what a release needs of an installed distribution that has another version, in one line; "" if nothing.

    `path` has the installed distributions, `folder` the release. An unmet requirement of the installed release does
    not count: the environment works without it. Whoever pins a release gets what it needs, so that a run
    beside another version says nothing about the pin.
    """
    installed = {normalize_name(each.name): each.version for each in reversed(list(metadata.distributions(path=path)))}
    before = _conflicts(path, name, installed)
    return next((line for each, line in _conflicts([str(folder)], name, installed).items() if each not in before), "")


def _conflicts(path: list[str], name: str, installed: dict[str, str]) -> dict[str, str]:
    """Return lines that tell what the distribution `name` needs in another version, by the other's name."""
    found = {}
    own = next(iter(metadata.distributions(name=name, path=path)), None)
    for text in (own and own.requires) or ():
        with suppress(InvalidRequirement, InvalidVersion):  # old releases have such
            needed = Requirement(text)
            version = installed.get(normalize_name(needed.name))
            wanted = needed.marker is None or needed.marker.evaluate({"extra": ""})
            if wanted and version and not needed.specifier.contains(version, prereleases=True):
                line = f"it needs {needed.name}{needed.specifier}, and {version} is installed"
                found[normalize_name(needed.name)] = line
    return found


def _environment() -> dict[str, str]:
    return {**child_environment(), "PYTHONIOENCODING": "utf-8"}  # pip's output is decoded as UTF-8


def _version(text: str) -> Version | None:
    try:
        return Version(text.strip())
    except InvalidVersion:
        return None
