"""Public repositories at a commit, each with an environment as its developers have them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

_IDENTITY = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")


@dataclass(frozen=True)
class Checkout:
    """A clone, the interpreter of its environment, and the commit of the public repository that it shows."""

    folder: Path
    python: Path
    commit: str


def check_out(repository: str, needs: Sequence[str], work: Path, mirror: Path | None, commit: str = "HEAD") -> Checkout:
    """Clone a repository and install it in editable mode, below a folder; what is there already is used again.

    `mirror` is a folder of bare clones named `owner+name`, which may lack files: those are left out of the checkout.
    The commits of a repository that need the same share an environment, in which the last one asked for is installed.
    """
    clone, resolved = clone_of(repository, work, mirror, commit)
    digest = hashlib.sha256("\n".join(sorted(needs)).encode()).hexdigest()[:10]
    folder = work / "environments" / f"{repository.replace('/', '+')}-{digest}"
    return Checkout(clone, environment(folder, needs, clone), resolved)


def clone_of(repository: str, work: Path, mirror: Path | None, commit: str = "HEAD") -> tuple[Path, str]:
    """Return a clone that shows a commit, and the commit's full name; what is there already is used again."""
    name = repository.replace("/", "+")
    place = work / (name if commit == "HEAD" else f"{name}-{commit[:10]}")
    clone, told = place / "clone", place / "commit"
    if not told.exists():
        shutil.rmtree(place, ignore_errors=True)
        resolved = _clone(_source(repository, mirror), clone, commit)
        told.write_text(resolved, encoding="utf-8")
    return clone, told.read_text(encoding="utf-8")


def _source(repository: str, mirror: Path | None) -> str:
    if mirror is not None:
        name = mirror / repository.replace("/", "+")
        for folder in (name / "repo" / ".git", name / "repo", name):
            if (folder / "HEAD").is_file():
                return str(folder)
    return f"https://github.com/{repository}"


def _clone(source: str, folder: Path, commit: str) -> str:
    """Clone a commit, without the files whose content the source lacks; returns the commit's full name."""
    subprocess.run(["git", "clone", "--quiet", "--no-checkout", source, str(folder)], check=True)
    resolved = _git(folder, "rev-parse", commit).strip()
    _git(folder, "update-ref", "--no-deref", "HEAD", resolved)
    _git(folder, "read-tree", resolved)
    if missing := _missing(folder):
        _git(folder, "rm", "--cached", "--quiet", "--", *missing)
        _git(folder, *_IDENTITY, "commit", "--quiet", "--message", "Leave out what the mirror lacks")
    _git(folder, "checkout-index", "--all", "--force")
    return resolved


def _missing(folder: Path) -> list[str]:
    """Return the files of the index whose content is not there."""
    entries = [line.split("\t", 1) for line in _git(folder, "ls-files", "--stage").splitlines()]
    files = [(facts.split()[1], path) for facts, path in entries if not facts.startswith("160000")]
    said = _git(folder, "cat-file", "--batch-check", given="".join(f"{name}\n" for name, _ in files)).splitlines()
    return [path for (_, path), line in zip(files, said, strict=True) if line.endswith(" missing")]


def environment(folder: Path, needs: Sequence[str], clone: Path | None = None, torch: str = "") -> Path:
    """Return the interpreter of an environment with a release of torch (that of this one), the needs, and a clone."""
    python = folder / "bin" / "python"
    ready, installed = (folder.with_name(f"{folder.name}.{each}") for each in ("ready", "installed"))
    # It links its files, where pip copies torch for each library.
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    install = [uv, "pip", "install", "--quiet", "--python", str(python)] if uv else []
    install = install or [str(python), "-m", "pip", "install", "--quiet"]
    if not ready.exists():
        installed.unlink(missing_ok=True)
        wanted = "torch==" + (torch or version("torch").partition("+")[0])
        create = [uv, "venv", "--quiet", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
        subprocess.run([*create, "--clear", str(folder)], check=True)
        subprocess.run([*install, wanted, "setuptools<81", "pytest", *needs], check=True)  # many import pkg_resources
        ready.touch()
    if clone is not None and (not installed.exists() or installed.read_text(encoding="utf-8") != str(clone)):
        _install(install, clone, folder)
        installed.write_text(str(clone), encoding="utf-8")
    return python


def _install(install: Sequence[str], clone: Path, folder: Path) -> None:
    """Install a clone in editable mode; where its build is too old for that, by a path that Python imports from."""
    for site in folder.glob("lib/python*/site-packages"):
        path = site / "benchmark.pth"
        path.unlink(missing_ok=True)
        if subprocess.run([*install, "--no-deps", "--editable", str(clone)]).returncode != 0:
            path.write_text(f"{clone / 'src'}\n{clone}\n", encoding="utf-8")


def _git(folder: Path, *words: str, given: str | None = None) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, input=given).stdout
