"""Parity of simulated devices: run whole test suites on the CPU and in worlds, and compare test by test.

    python benchmarks/parity.py suites.toml [--only NAME] [--out results] [--table docs/explanation/parity.md]

`suites.toml` points at clones, each in an environment that has its dependencies and pytest (as suites/public.toml):

    [kornia]
    folder = "~/clones/kornia"
    revision = "b4f5a78a13"                        # told in the table; default: the clone's commit, as git says
    python = "~/clones/venv/bin/python"           # default: the one that runs this
    tests = ["tests/color", "tests/losses"]
    cpu = ["--device", "cpu"]                      # what the suite is told to run on the CPU
    devices = ["cuda", "mps", "xpu"]               # the worlds that it is run in; default: cuda alone
    cuda = ["--device", "cuda"]                    # and on cuda; beside these it is given --gpus
    mps = ["--device", "mps"]
    gpus = 1
    environment = { KORNIA_TEST_RUNSLOW = "true" } # of all; cpu_environment, mps_environment of one
    default_device = true                          # torch.set_default_device, where the suite has no other way
    device_attribute = "module.Case.device"        # what the suite takes its device from, set to it in all
    varying = "(?<=_case_)\\d+"                    # a pattern of what in the names hangs on how many GPUs there are
    told = "a line about the suite for the document"
    [kornia.causes]                                # written by hand, when a difference has been looked into
    "a part of a test's name or of its error" = "the cause: ours, theirs, or CUDA's"
    [kornia.mps_causes]                            # on mps alone; what every Mac refuses is known without

The tests' results lie in the folder `--out`, one JSON object a line; a suite whose results are there is not run again.
A table that exists keeps the suites that are not run.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from needed import need_in
from suites.running import devices, run
from suites.table import compared, joined, page

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DIAGNOSES = ("msgspec", "rich")  # imported when a test fails on a device: without them pytest ends there


def main() -> int:
    """Run what has not been run, and write the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("suites", type=Path)
    options.add_argument("--only", action="append", help="this suite alone (may be given again)")
    options.add_argument("--out", type=Path, default=Path("parity-results"))
    options.add_argument("--table", type=Path, help="write the table to this file, beside the suites that it has")
    given = options.parse_args()
    suites = tomllib.loads(given.suites.read_text("utf-8"))
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    rows, lists = [], []
    for name, suite in suites.items():
        if given.only and name not in given.only:
            continue
        for where in ("cpu", *devices(suite)):
            if not (out / f"{name}-{where}.jsonl").exists():
                needed = ("pytest", "torch", *(() if where == "cpu" else DIAGNOSES))
                need_in(os.path.expanduser(suite.get("python", sys.executable)), needed)
                run(suite, where, out / f"{name}-{where}.jsonl")
        for device in devices(suite):
            row, differing = compared(name, suite, out, device)
            rows.append(row)
            lists += differing
    if given.table:
        written = given.table.read_text("utf-8") if given.table.exists() else ""
        given.table.write_text(joined(written, rows, lists), "utf-8")
    else:
        print(page(rows, lists))
    return 0


if __name__ == "__main__":
    sys.exit(main())
