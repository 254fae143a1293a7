"""Small public libraries as git repositories, each with the examples of its README as scripts."""

from __future__ import annotations

import ast
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from needed import ROOT
from repairs import make_repository

PACKAGES = Path(__file__).with_name("fleet_packages.txt")
CACHE = ROOT / ".venv" / "fleet"
_EXAMPLE = re.compile(r"^```py\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MOST = 3  # examples of each README


def packages() -> list[str]:
    """The releases of the benchmark: lines such as "zuko==1.6.0"."""
    lines = PACKAGES.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def repository(package: str) -> Path | str:
    """The repository of a release, made on the first call; where its sources cannot be had, why, in one line."""
    folder = CACHE / hashlib.sha256(package.encode()).hexdigest()[:8] / package.partition("==")[0]
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        scratch = Path(name)
        # Builds metadata, as pip does before every installation from sources.
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq", "download", "--no-deps"]
        command += ["--no-binary", ":all:", "--dest", str(scratch), package]
        done = subprocess.run(command, capture_output=True, text=True)
        archive = next(scratch.glob("*.tar.gz"), None)
        if done.returncode or archive is None:
            return ([line for line in done.stderr.splitlines() if "error" in line.lower()] or ["no sources"])[-1]
        with tarfile.open(archive) as sources:
            sources.extractall(scratch / "unpacked", filter="data")
        made = next((scratch / "unpacked").iterdir())
        for number, text in enumerate(_examples(made), 1):
            (made / "examples").mkdir(exist_ok=True)
            (made / "examples" / f"readme_{number}.py").write_text(text, encoding="utf-8")
        shutil.rmtree(made / ".git", ignore_errors=True)
        make_repository(made, scratch / "repository")
        (scratch / "repository").rename(folder)
    return folder


def repositories(wanted: list[str]) -> Iterator[tuple[str, Path | str]]:
    """Yield each release with its repository, or with the reason why there is none."""
    with ThreadPoolExecutor(4) as pool:
        yield from zip(wanted, pool.map(repository, wanted), strict=True)


def _examples(folder: Path) -> Iterator[str]:
    """Yield the first examples of a README that are whole programs of torch."""
    readme = next(iter(sorted(folder.glob("README.*"))), None)
    text = readme.read_text(encoding="utf-8", errors="replace") if readme else ""
    found = [block for block in _EXAMPLE.findall(text) if "import" in block and "torch" in block and _parses(block)]
    yield from found[:_MOST]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
