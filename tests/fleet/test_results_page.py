"""The page about the folder of results: its tables are those of the schemas, and its queries run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import duckdb
import pytest
from fleet_results import finding, job, result

from devfix.fleet.results import ResultStore, store
from devfix.model import JobOutcome

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import fleet_results_page  # noqa: E402


def test_the_columns_are_those_of_the_schemas() -> None:
    assert fleet_results_page.drift() == "", "run: python scripts/fleet_results_page.py"


def test_the_queries_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch, single files, and a result in both: the newer one counts."""
    monkeypatch.setattr(store, "_SINGLE", 10)
    written = ResultStore.create(tmp_path / "fleet-results")
    jobs = [job(number) for number in range(15)]
    written.write_plan(jobs)
    for number, each in enumerate(jobs[:12]):
        found = tuple(finding(each, n, fixed=n == 1) for n in range(1, number % 3 + 1))
        written.add(result(each, findings=found, seconds=float(number)))
    written.add(result(jobs[11], JobOutcome.CLEAN, seconds=100.0))
    monkeypatch.chdir(tmp_path)
    queries = re.findall(r"```sql\n(.*?)```", fleet_results_page.PAGE.read_text("utf-8"), re.DOTALL)
    outcomes, rules, slow = (duckdb.sql(query).fetchall() for query in queries)
    assert outcomes == [("repaired", 11), ("not yet run", 3), ("clean", 1)]
    assert rules == [("placement/new-tensor", 10, 7, 7)]
    assert [(row[0], row[1], row[2]) for row in slow] == [
        ("ada/model-11", "clean", 100.0),
        ("ada/model-10", "repaired", 10.0),
    ]
