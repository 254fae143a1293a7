"""What `devfix fleet` costs: small public libraries against one by one, and jobs that do nothing.

usage: python benchmarks/fleet.py libraries [--count N] [--budget 60s]
       python benchmarks/fleet.py empty [--count N]

`libraries` searches the examples in the READMEs of the releases that `fleet_packages.txt` lists: first with
`devfix find --install`, one after the other, then as one fleet on this machine. Both start without environments, and
with the same downloads in uv's cache, which a first round fills. It prints a row for each library and the sums. `empty`
sends jobs that do nothing through plan, Ray, results folder and status, with two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fleet_repositories import CACHE, packages, repositories
from needed import need

if TYPE_CHECKING:
    from devfix.fleet.records import Job, JobRecord, JobResult

_DEVFIX = (sys.executable, "-m", "devfix")


def main() -> int:
    """Run one of the two measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("libraries", "empty"))
    parser.add_argument("--count", type=int, default=0, help="libraries (default: all), or jobs (default: 10,000)")
    parser.add_argument("--budget", default="60s", help="time for each search (default: 60s)")
    asked = parser.parse_args()
    need("devfix", "torch", "ray", "pyarrow", "duckdb", "uv")
    if asked.what == "empty":
        return measure_empty(asked.count or 10_000)
    return measure_libraries(packages()[: asked.count or None], asked.budget)


def measure_libraries(wanted: list[str], budget: str) -> int:
    """Search libraries one by one and as a fleet, and print both."""
    made = [(name, found) for name, found in repositories(wanted) if isinstance(found, Path) or _tell(name, found)]
    folders = {name: folder for name, folder in made if isinstance(folder, Path)}
    shared = {**os.environ, "UV_CACHE_DIR": str(CACHE / "uv")}
    options = ["--select", "examples/*", "--budget", budget]
    print(f"filling uv's cache for {len(folders)} libraries", file=sys.stderr, flush=True)
    with _own_cache(shared) as variables:
        for folder in folders.values():
            _run(["env", str(folder), "--no-build", "--with", "torch>=2.6", "--with", "pytest"], variables)
    single, began = {}, time.monotonic()
    with _own_cache(shared) as variables:
        for name, folder in folders.items():
            single[name] = _run(["find", str(folder), "--install", "--format", "json", *options], variables)
    one_by_one = time.monotonic() - began
    with _own_cache(shared) as variables, tempfile.TemporaryDirectory(prefix="devfix-fleet-") as name:
        rows, together = _fleet(Path(name), folders, options, variables)
    for name in folders:
        seconds, code = single[name]
        print(f"{name:45} {seconds:8.1f} s, exit {code}   {rows[name].seconds:8.1f} s  {rows[name].outcome.value}")
    print()
    print(f"{len(folders)} libraries on {os.cpu_count()} cores")
    print(f"one by one      {one_by_one:8.1f} s")
    print(f"as a fleet      {together:8.1f} s, {one_by_one / together:.2f} times as fast")
    print(f"in its jobs     {sum(row.seconds for row in rows.values()):8.1f} s")
    for outcome, count in Counter(row.outcome.value for row in rows.values()).most_common():
        print(f"{count:6} {outcome}")
    return 0


def measure_empty(count: int) -> int:
    """Send jobs that do nothing through the whole path, and print the time and the memory of the driver."""
    from devfix.fleet.cluster import RunOptions, connect
    from devfix.fleet.records import Job, JobLimits
    from devfix.fleet.results import ResultStore

    limits = JobLimits(cores=1, memory=0.1)
    jobs = [Job(f"{n:064x}", f"owner/name{n}", "https://example.org/owner/name", "", "0" * 40, limits=limits)
            for n in range(count)]  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory(prefix="devfix-fleet-") as name:
        folder = Path(name) / "results"
        with closing(ResultStore.create(folder)) as store, connect("", 2, _say) as cluster:
            from devfix.fleet.cluster.submission import run_jobs

            store.write_plan(jobs)
            began = time.monotonic()
            ended = sum(1 for _ in run_jobs(jobs, cluster, store, _Quiet(), RunOptions("0"), _task()))
            seconds = time.monotonic() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.monotonic()
        listed = subprocess.run([*_DEVFIX, "fleet", "status", str(folder), "--format", "json"], stdout=subprocess.PIPE)
        status = time.monotonic() - began
        files = sum(len(names) for _, _, names in os.walk(folder))
    print(f"{ended} of {count} jobs that do nothing: {seconds:.1f} s, {1000 * seconds / count:.2f} ms for each")
    print(f"memory of the driver: {peak / 1e6:.2f} GB at most, {before / 1e6:.2f} GB before")
    print(f"results: {files} files; `devfix fleet status` {status:.1f} s, exit {listed.returncode}")
    return 0 if ended == count else 1


def _task() -> object:
    """Return the task that does nothing, in place of the one that runs a job."""
    import ray

    from devfix.fleet.records import JobRecord, JobResult
    from devfix.model import JobOutcome

    @ray.remote(max_retries=0)
    def nothing(job: Job, version: str, attempts: int) -> JobResult:
        return JobResult(JobRecord.of(job, version, JobOutcome.CLEAN, attempts=attempts))

    return nothing


class _Quiet:
    """Shows nothing of the progress."""

    def say(self, text: str) -> None: ...
    def plan(self, jobs: Sequence[object], earlier: int, workers: float, dashboard: str) -> None: ...
    def start(self, job: object) -> None: ...
    def end(self, record: object) -> None: ...


def _fleet(
    folder: Path, folders: dict[str, Path], options: list[str], variables: dict[str, str]
) -> tuple[dict[str, JobRecord], float]:
    """Search libraries as a fleet; return the record of each, and the wall time of all."""
    lines = ["[fleet]", 'mode = "find"', "memory = 8", f"options = {json.dumps(options)}"]
    for path in folders.values():
        lines += ["[[repository]]", f"path = {json.dumps(str(path))}"]
    (folder / "fleet.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    began = time.monotonic()
    subprocess.run([*_DEVFIX, "fleet", "run", str(folder / "fleet.toml")], env=variables, stdout=sys.stderr)
    seconds = time.monotonic() - began
    from devfix.fleet.results import ResultStore

    records = {record.address: record for record in ResultStore.open(folder / "fleet-results").records()}
    return {name: records[str(path)] for name, path in folders.items()}, seconds


@contextmanager
def _own_cache(variables: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield variables with an empty cache folder for environments."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        yield {**variables, "XDG_CACHE_HOME": name}


def _run(words: list[str], variables: dict[str, str]) -> tuple[float, int]:
    began = time.monotonic()
    done = subprocess.run([*_DEVFIX, *words], env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began, done.returncode


def _tell(name: str, why: object) -> bool:
    print(f"{name}: left out: {why}", file=sys.stderr, flush=True)
    return False


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
