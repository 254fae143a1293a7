"""How long `devfix test` takes: every run made, nothing changed, and from a save to the answer of `--watch`.

    python benchmarks/rule_tests.py [FOLDER] [--saves N] [--replay-only]

Prints a table. The rules are copied, and the runs recorded in a temporary folder. With --replay-only the runs of the
user's own cache are replayed, and the first line is left out.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from needed import need

ROOT = Path(__file__).resolve().parents[1]


def command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "devfix", "test", str(folder), *options]


def timed(folder: Path) -> tuple[float, float, str]:
    """Test a folder of rules; return the seconds on the wall and of processors, and the last line of the output."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command(folder), capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.monotonic() - began, spent, done.stdout.splitlines()[-1]


def answers(folder: Path, saves: int) -> Iterator[float]:
    """Save rules one after the other while `devfix test --watch` runs; yield the seconds until each result is there."""
    with subprocess.Popen(command(folder, "--watch"), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        modules = [path for path in sorted(folder.glob("*/*.py")) if not path.name.startswith("_")]
        for line in process.stdout:
            if line.startswith("watching "):
                break
        for number in range(saves):
            module = modules[number * len(modules) // saves]
            text = module.read_text() + f"# saved for the {number + 1}. time\n"
            time.sleep(0.5)  # so that no two saves are answered at once
            began = time.monotonic()
            module.write_text(text)
            for line in process.stdout:
                if line.startswith("1 rules, "):
                    break
            yield time.monotonic() - began
        process.terminate()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "rules")
    parser.add_argument("--saves", type=int, default=20)
    parser.add_argument("--replay-only", action="store_true", help="take the runs of the user's cache")
    options = parser.parse_args()
    need("devfix", "torch")
    with tempfile.TemporaryDirectory(prefix="devfix-rule-tests-") as name:
        folder = Path(name) / "rules"
        shutil.copytree(options.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
        if not options.replay_only:
            os.environ["XDG_CACHE_HOME"] = str(Path(name) / "cache")
        print("| `devfix test` | s | of processors, s | |\n|---|---:|---:|---|")
        for what in ("nothing changed",) if options.replay_only else ("every run made", "nothing changed"):
            wall, spent, told = timed(folder)
            print(f"| {what} | {wall:.2f} | {spent:.2f} | {told} |", flush=True)
        found = sorted(answers(folder, options.saves))
        print(f"| a rule is saved: median of {len(found)} | {statistics.median(found):.3f} | | |")
        print(f"| a rule is saved: the slowest | {found[-1]:.3f} | | |")


if __name__ == "__main__":
    main()
