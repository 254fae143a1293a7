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
    "print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
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


def plain(folder: Path) -> float:
    """Return the seconds of one run of the program without devfix."""
    began = time.monotonic()
    subprocess.run([sys.executable, "main.py"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def repair(folder: Path) -> tuple[float, float]:
    """Return the seconds of a repair, and the peak memory of devfix itself in megabytes."""
    words = ["repair", ".", "--world", "simulated", "--run", "python main.py", "--dry-run"]
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", MEASURED, *words], cwd=folder, capture_output=True, text=True)
    seconds = time.monotonic() - began
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    peak = next(line for line in done.stderr.splitlines() if line.startswith("peak "))
    return seconds, int(peak.split()[1]) / 1024


def main() -> int:
    """Measure, print, and say whether the curve is flat."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=int, default=[100, 1000, 10_000])
    parser.add_argument("--data", type=int, default=2000, help="megabytes of ignored data")
    options = parser.parse_args()
    print("| files | plain run, s | repair, s | over the plain run, s | peak memory, MB |\n|---:|---:|---:|---:|---:|")
    costs: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        for files in options.files:
            folder = Path(name) / str(files)
            make_repository(folder, files, options.data)
            alone = min(plain(folder) for _ in range(REPEATS))
            runs = [repair(folder) for _ in range(REPEATS)]
            seconds, peak = min(run[0] for run in runs), min(run[1] for run in runs)
            costs.append((seconds - alone, peak))
            print(f"| {files:,} | {alone:.2f} | {seconds:.2f} | {seconds - alone:.2f} | {peak:.0f} |", flush=True)
    grown = [last / first for first, last in zip(costs[0], costs[-1], strict=True)]
    print(f"\nThe largest costs {grown[0]:.2f} times the seconds and {grown[1]:.2f} times the memory of the smallest.")
    return int(max(grown) > MOST)


if __name__ == "__main__":
    sys.exit(main())
