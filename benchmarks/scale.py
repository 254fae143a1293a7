"""What a repair costs in repositories of 100, 1,000 and 10,000 Python files, over one plain run of the program.

    python benchmarks/scale.py [FILES...] [--data MEGABYTES]

Each repository has the same failing program on the path of one file, the others beside it, and ignored data. Prints a
table, and ends with an error where the largest repository costs more than 1.5 times what the smallest does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from needed import need

MOST = 1.5
REPEATS = 3
PROGRAM = """import torch
from package.layers import total

x = torch.ones(2, device="cuda" if torch.cuda.is_available() else "cpu")
print(total(x).item())
"""
LAYERS = """import torch


def total(x):
    return (x + torch.arange(2)).sum()
"""
OTHER = "import torch\n\n\ndef f{n}(x):\n    y = torch.zeros({n})\n    return x + y\n" * 10
MEASURED = (
    "import resource, sys; from devfix.cli import status; code = status(sys.argv[1:]);"
    "own, rest = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN));"
    "spent = own.ru_utime + own.ru_stime + rest.ru_utime + rest.ru_stime;"
    "print('spent', spent, own.ru_maxrss, file=sys.stderr); sys.exit(code)"
)


def make_repository(folder: Path, files: int, megabytes: int) -> None:
    """Write and commit a repository with so many Python files and so much ignored data, a sparse file a tenth each."""
    (folder / "package").mkdir(parents=True)
    (folder / "main.py").write_text(PROGRAM)
    (folder / "package" / "layers.py").write_text(LAYERS)
    (folder / ".gitignore").write_text("data/\n")
    for number in range(files - 2):
        place = folder / f"part{number // 100}" / f"module{number}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(OTHER.format(n=number))
    (folder / "data").mkdir()
    for number in range(10):
        with (folder / "data" / f"{number}.bin").open("wb") as file:
            file.truncate(megabytes * 100_000)
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=start"]):
        subprocess.run(["git", *person, *words], cwd=folder, check=True)


def plain(folder: Path) -> tuple[float, float]:
    """Return the seconds of one run of the program without devfix: on the wall, and of processors."""
    began, spent = time.monotonic(), sum(os.times()[2:4])
    subprocess.run([sys.executable, "main.py"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began, sum(os.times()[2:4]) - spent


def repair(folder: Path) -> tuple[float, float, float]:
    """Return the seconds of a repair, on the wall and of processors, and devfix's own peak memory in megabytes."""
    words = ["repair", ".", "--world", "simulated", "--run", "python main.py", "--dry-run"]
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", MEASURED, *words], cwd=folder, capture_output=True, text=True)
    seconds = time.monotonic() - began
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    _, spent, peak = next(line for line in done.stderr.splitlines() if line.startswith("spent ")).split()
    return seconds, float(spent), int(peak) / 1024


def main() -> int:
    """Measure, print, and say whether the curve is flat."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=int, default=[100, 1000, 10_000])
    parser.add_argument("--data", type=int, default=2000, help="megabytes of ignored data")
    options = parser.parse_args()
    need("devfix", "torch")
    print(
        "| files | repair, s | of processors, s | over a plain run, s | peak memory, MB |\n|---:|---:|---:|---:|---:|"
    )
    costs: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        for files in options.files:
            folder = Path(name) / str(files)
            make_repository(folder, files, options.data)
            alone = min(plain(folder)[1] for _ in range(REPEATS))
            wall, spent, peak = (min(each) for each in zip(*(repair(folder) for _ in range(REPEATS)), strict=True))
            costs.append((spent - alone, peak))
            print(f"| {files:,} | {wall:.2f} | {spent:.2f} | {spent - alone:.2f} | {peak:.0f} |", flush=True)
    # Time of processors, since other work on the machine makes that on the wall say little.
    grown = [last / first for first, last in zip(costs[0], costs[-1], strict=True)]
    print(f"\nThe largest costs {grown[0]:.2f} times the seconds and {grown[1]:.2f} times the memory of the smallest.")
    return int(max(grown) > MOST)


if __name__ == "__main__":
    sys.exit(main())
