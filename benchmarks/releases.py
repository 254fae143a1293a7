"""The wild cases: what they say, and the releases and commits that they are about, where each of them wants them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cases import Case, tomllib
from commits import files_at

ROOT = Path(__file__).parents[1]
WILD = ROOT / "corpus" / "wild"


@dataclass(frozen=True)
class Wild:
    """A case of `corpus/wild/`: a case of the corpus, and the release, or the commit of a repository, it is about."""

    case: Case
    upstream: str
    package: str = ""
    repository: str = ""
    commit: str = ""
    files: tuple[str, ...] = ()
    installed: bool = False
    change: tuple[dict[str, str], ...] = ()
    version: str = ""
    pinned: tuple[str, ...] = ()


def read_wild(folder: Path) -> Wild:
    """The wild case in a folder."""
    told: dict[str, Any] = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    own = {each.name: told.pop(each.name) for each in fields(Wild) if each.name in told}
    return Wild(Case(folder, **told), **own)


def environment() -> Path:
    """The folder of the environment that holds what the releases import; made on the first call."""
    wanted = (WILD / "requirements.txt").read_bytes() + sys.version.encode()
    folder = Path(os.environ.get("DEVFIX_WILD") or ROOT / ".venv" / "wild") / hashlib.sha256(wanted).hexdigest()[:12]
    if not (folder / "ready").exists():
        print("installing what the releases import, once", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        make_environment(folder, Path(sysconfig.get_path("purelib")))
        pip("--python", folder / "bin" / "python", "install", "--no-deps", "--requirement", WILD / "requirements.txt")
        (folder / "ready").touch()
    return folder


def make_environment(folder: Path, behind: Path) -> Path:
    """Make a virtual environment that also sees the packages in `behind`; returns its site-packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "zz-behind.pth").write_text(f"{behind}\n{_behind(behind)}", encoding="utf-8")
    return site


def _behind(site: Path) -> str:
    """The folders that a site-packages itself lets in by our own file: `.pth` files are not read twice over."""
    chained = site / "zz-behind.pth"
    return chained.read_text(encoding="utf-8") if chained.exists() else ""


def pip(*arguments: str | Path) -> None:
    """Run pip quietly. Raises CalledProcessError with its words on standard error."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def unpacked(wild: Wild, shared: Path) -> Path:
    """A folder with the release installed and the case's change made in it, or the files of the commit.

    Made on the first call. Raises NotReachedError where the commit cannot be had.
    """
    key = hashlib.sha256(repr((wild.package, wild.change, wild.version, wild.commit, wild.files)).encode())
    folder = shared / "releases" / key.hexdigest()[:12]
    if not folder.exists():
        fresh = folder.with_suffix(".part")
        shutil.rmtree(fresh, ignore_errors=True)
        if wild.repository:
            files_at(wild.repository, wild.commit, wild.files, fresh)
            apply_change(wild, fresh)
            fresh.rename(folder)
            return folder
        with tempfile.TemporaryDirectory(prefix="devfix-wheel-") as name:
            wheel = built_again(wild, Path(name)) if wild.version else wild.package
            pip("install", "--no-deps", "--target", fresh, wheel)
        if not wild.version:
            apply_change(wild, fresh)
        fresh.rename(folder)
    return folder


def apply_change(wild: Wild, folder: Path) -> None:
    """Change the release as the case says. Raises ValueError where its text is another."""
    for change in wild.change:
        path = folder / change["file"]
        text, count = re.subn(change["pattern"], change["becomes"], path.read_text(encoding="utf-8"))
        if count != 1:
            raise ValueError(f"{wild.case.name}: `{change['pattern']}` is met {count} times in {change['file']}")
        path.write_text(text, encoding="utf-8")


def built_again(wild: Wild, folder: Path) -> Path:
    """A wheel of the release with the case's change in it and the case's version."""
    pip("download", "--no-deps", "--only-binary", ":all:", "--dest", folder, wild.package)
    old = next(folder.glob("*.whl"))
    name, version, *rest = old.name.split("-")
    content = folder / "content"
    with zipfile.ZipFile(old) as wheel:
        wheel.extractall(content)
    apply_change(wild, content)
    info = (content / f"{name}-{version}.dist-info").rename(content / f"{name}-{wild.version}.dist-info")
    told = (info / "METADATA").read_text(encoding="utf-8").replace(f"Version: {version}", f"Version: {wild.version}", 1)
    (info / "METADATA").write_text(told, encoding="utf-8")
    files = [path for path in sorted(content.rglob("*")) if path.is_file()]
    (info / "RECORD").write_text("".join(f"{path.relative_to(content).as_posix()},,\n" for path in files))
    new = folder / "-".join((name, wild.version, *rest))
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in files:
            wheel.write(path, path.relative_to(content))
    return new
