"""Time the whole of `devfix repair` on LLMs-from-scratch against one plain run of the same script on the CPU.

usage: python benchmarks/repair.py [--rounds N]

The limit is that of the repair, without the regression test that it writes where there are pytest tests, as here; the
seconds with it are told beside. All are whole processes, interleaved; what is printed is the ratio of the medians (of 5
by default). The case is `corpus/wild/llms-from-scratch`; its release is installed from the package index at first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from needed import need
from repairs import make_repository, repair
from wild import WILD, environment, read_wild, unpacked


def main() -> int:
    """Print the seconds of both and their ratio; 1 where the ratio is over 4, or the repair is not one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    need("devfix", "torch")
    shared = environment()
    python = shared / "bin" / "python"
    wild = read_wild(WILD / "llms-from-scratch")
    script = wild.case.run.removeprefix("python ")
    plain, whole = [], []
    with tempfile.TemporaryDirectory(prefix="devfix-benchmark-") as temporary:
        made, folder = Path(temporary) / "made", Path(temporary) / "repository"
        shutil.copytree(unpacked(wild, shared), made, ignore=shutil.ignore_patterns("bin"))
        shutil.copytree(wild.case.folder, made, dirs_exist_ok=True)
        make_repository(made, folder)
        # Both sides find the library compiled, as they would the second time that anybody runs it.
        subprocess.run([python, script], cwd=folder, check=True, capture_output=True)
        for number in range(rounds):
            began = time.monotonic()
            subprocess.run([python, script], cwd=folder, check=True, capture_output=True, env=hidden_gpus())
            plain.append(time.monotonic() - began)
            asked = [
                "--run",
                wild.case.run,
                "--world",
                "simulated",
                "--python",
                str(python),
                "--branch",
                f"fix-{number}",
            ]
            guarded = repair(folder, [*asked[:-1], f"guarded-{number}"])[1]
            report, seconds = repair(folder, [*asked, "--no-test"])
            if report["outcome"] != "repaired":
                print(f"not repaired: {report['outcome']}: {report.get('notes')}", file=sys.stderr)
                return 1
            whole.append(seconds)
            told = f"plain {plain[-1]:.2f} s, repair {seconds:.2f} s, with a test {guarded:.2f} s"
            print(f"round {number + 1}: {told}", flush=True)
    usual, ours = statistics.median(plain), statistics.median(whole)
    print(f"plain {usual:.2f} s, repair {ours:.2f} s, ratio {ours / usual:.2f} (at most 4)")
    return 0 if ours <= 4 * usual else 1


def hidden_gpus() -> dict[str, str]:
    """The environment without GPUs: the plain run is one on the CPU."""
    return {**os.environ, "CUDA_VISIBLE_DEVICES": ""}


if __name__ == "__main__":
    sys.exit(main())
