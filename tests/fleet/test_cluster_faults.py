"""What goes wrong with a job on a cluster ends in a record of its own, and the jobs beside it end as they should."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fleet_clusters import NodeCluster
from fleet_drivers import SANDBOX, driver, records, said
from git_repositories import make_repository
from package_index import sole_index

from devfix.model import JobOutcome

pytestmark = pytest.mark.slow
PROGRAMS = {
    "eats": "kept = []\nwhile True:\n    kept.append(b'1' * 50_000_000)\n",
    "fills": "import itertools\nfor n in itertools.count():\n    open(f'data-{n}', 'wb').write(bytes(5_000_000))\n",
    "endless": "import time\ntime.sleep(100_000)\n",
    "fails": "raise SystemExit('it has a reason of its own')\n",
    "gone": "print('a commit that is not there')\n",
    "unresolved": "print('its environment does not resolve')\n",
}
HERE = f'python = "{os.path.abspath(sys.executable)}"\n'
SETTINGS = {
    "eats": HERE + "memory = 1.2\n",
    "fills": HERE + "disk = 0.3\n",
    "endless": HERE + "time = 20\n",
    "fails": HERE,
    "gone": HERE + f'ref = "{"0" * 40}"\n',
    "unresolved": 'torch = "none"\n',
}
EXPECTED = {
    "eats": (JobOutcome.OUT_OF_MEMORY, "the job took more than 1.2 GB of memory"),
    "fills": (JobOutcome.OUT_OF_DISK, "the job took more than 0.3 GB of disk"),
    "endless": (JobOutcome.TIMED_OUT, "the job did not end within 20 s"),
    "fails": (JobOutcome.PROGRAM_FAILED, "it has a reason of its own"),
    "gone": (JobOutcome.CLONE_FAILED, "0" * 40),
    "unresolved": (JobOutcome.ENVIRONMENT_FAILED, "stem"),
}


def test_each_fault_of_a_job_is_a_record_of_its_own(
    cluster: NodeCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    orphans: Callable[[Path], list[str]],
) -> None:
    text = f'[fleet]\nmemory = 3\nrun = "python main.py"\n{SANDBOX}'
    for name, program in PROGRAMS.items():
        files = {"main.py": program, **({"requirements.txt": "stem==7\n"} if name == "unresolved" else {})}
        make_repository(tmp_path / name, files)
        text += f'[[repository]]\npath = "{name}"\n{SETTINGS[name]}'
    (tmp_path / "fleet.toml").write_text(text)

    with sole_index(tmp_path / "packages", monkeypatch) as index:
        index.add("stem", "1.0")
        index.add("torch", "2.7")
        monkeypatch.setenv("XDG_CACHE_HOME", str(cluster.cache))
        nodes = [cluster.add(), cluster.add()]
        run = driver(cluster, tmp_path / "fleet.toml")
        shown = said(run)
    assert run.returncode == 1, shown
    found = records(tmp_path)
    assert set(found) == set(EXPECTED), shown
    for name, (outcome, reason) in EXPECTED.items():
        record = found[name]
        assert (record.outcome, record.attempts) == (outcome, 1), record
        assert reason in record.reason and "\n" not in record.reason
        assert record.seconds > 0
    assert len({record.node for record in found.values()}) == 2, "one of the nodes ran nothing"
    assert not cluster.jobs and not orphans(cluster.cache)
    for node in nodes:
        cluster.kill(node)
