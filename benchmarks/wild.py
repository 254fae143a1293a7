"""Repair released packages in which the failures were met that devfix was born from, and print the one table.

usage: python benchmarks/wild.py [--verbose] [NAME ...]

Each case of `corpus/wild/` names a release of the package index. It is installed with --no-deps, together with the
case's own driver, into a git repository of its own (or, with `installed`, into the environment of the program), and
`devfix repair` is run there. What the releases import is installed once, pinned by `corpus/wild/requirements.txt`, into
an environment below `.venv/wild` (or the folder that DEVFIX_WILD names); torch comes from the environment around.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cases import Case, Result, result_of, tomllib
from places import changes
from repairs import branch_diff, make_repository, repair

ROOT = Path(__file__).parents[1]
WILD = ROOT / "corpus" / "wild"
HEADS = ("case", "reproduced", "outcome", "as demanded", "place of the fix", "upstream's place", "worlds", "seconds")


@dataclass(frozen=True)
class Wild:
    """A case of `corpus/wild/`: a case of the corpus, and the release that it is about."""

    case: Case
    package: str
    upstream: str
    installed: bool = False
    change: tuple[dict[str, str], ...] = ()


def read_wild(folder: Path) -> Wild:
    """The wild case in a folder."""
    told: dict[str, Any] = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    own = {key: told.pop(key) for key in ("package", "upstream", "installed", "change") if key in told}
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
    """A folder with the release installed and the case's change made in it; made on the first call."""
    key = hashlib.sha256(repr((wild.package, wild.change)).encode()).hexdigest()[:12]
    folder = shared / "releases" / key
    if not folder.exists():
        fresh = folder.with_suffix(".part")
        shutil.rmtree(fresh, ignore_errors=True)
        pip("install", "--no-deps", "--target", fresh, wild.package)
        for change in wild.change:
            path = fresh / change["file"]
            text, count = re.subn(change["pattern"], change["becomes"], path.read_text(encoding="utf-8"))
            if count != 1:
                raise ValueError(f"{wild.case.name}: `{change['pattern']}` is met {count} times in {change['file']}")
            path.write_text(text, encoding="utf-8")
        fresh.rename(folder)
    return folder


def judge_wild(wild: Wild, shared: Path, temporary: Path) -> Result:
    """Make the repository of a case and repair it."""
    release = unpacked(wild, shared)
    made, python = temporary / "made", shared / "bin" / "python"
    if wild.installed:
        own = temporary / "environment"
        shutil.copytree(
            release, make_environment(own, next(shared.glob("lib/python*/site-packages"))), dirs_exist_ok=True
        )
        python = own / "bin" / "python"
    else:
        shutil.copytree(release, made, ignore=shutil.ignore_patterns("__pycache__", "bin"))
    shutil.copytree(wild.case.folder, made, dirs_exist_ok=True)
    folder = temporary / wild.case.name
    make_repository(made, folder)
    arguments = ["--run", wild.case.run, "--world", "simulated", "--gpus", str(wild.case.gpus), "--python", str(python)]
    report, seconds = repair(folder, [*arguments, *(f"--exclude={glob}" for glob in wild.case.exclude)])
    return result_of(wild.case, report, branch_diff(folder, report), seconds, made)


def main() -> int:
    """Print the table; 1 where a case does not come out as it demands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases (default: all)")
    parser.add_argument("--verbose", action="store_true", help="print the diff, or why there is none")
    asked = parser.parse_args()
    folders = sorted(path.parent for path in WILD.glob("*/case.toml"))
    if unknown := set(asked.names) - {folder.name for folder in folders}:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; the cases are the folders of corpus/wild/")
    shared, short = environment(), 0
    print("| " + " | ".join(HEADS) + " |", "|" + " --- |" * len(HEADS), sep="\n")
    for wild in [read_wild(folder) for folder in folders if not asked.names or folder.name in asked.names]:
        with tempfile.TemporaryDirectory(prefix="devfix-wild-") as temporary:
            result = judge_wild(wild, shared, Path(temporary))
        print(row(wild, result), flush=True)
        if asked.verbose:
            print(result.diff, file=sys.stderr, flush=True)
        short += bool(result.faults)
    return 1 if short else 0


def row(wild: Wild, result: Result) -> str:
    """One case as a line of the table."""
    places = [f"{path}:{min(lines)}" for path, lines in changes(result.diff)] if result.rules else []
    cells = (
        wild.case.name,
        "yes" if result.reproduced else "no",
        result.outcome,
        "no: " + ", ".join(result.faults) if result.faults else "yes",
        ", ".join(places),
        wild.upstream,
        ", ".join(name if told == "clean" else f"{name} ✗" for name, told in result.worlds.items()),
        f"{result.seconds:.1f}",
    )
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
