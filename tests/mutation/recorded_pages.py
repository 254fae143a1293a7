"""The rules' pages without running a program: what a rule makes of a failure that was recorded is pure.

Each rule must propose what its page demands, and all that it proposed before the code was changed. Used by
`scripts/mutate.py` alone, which records the failures (`python recorded_pages.py FILE`) and names the file.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import pytest

from devfix.catalog.loading import rule_at, rule_files
from devfix.model import Failure
from devfix.sdk import Sources
from devfix.stages.diagnose import diagnose
from devfix.stages.propose import propose
from devfix.testing.page import read_page

ROOT = Path(os.environ.get("DEVFIX_ROOT", Path(__file__).resolve().parents[2]))
RULES = {f"{file.parent.name}/{file.stem}": file for file in rule_files(ROOT / "rules")}
CASES = {
    f"{name}-{case.line}": (file, case)
    for name, file in RULES.items()
    for case in read_page(file.with_suffix(".md")).cases
}


def record(path: Path) -> None:
    """Run every case that fails, and write the failures to a file."""
    from devfix.testing.bench import Bench

    with Bench(Path(sys.executable)) as bench:
        found = {name: bench.failure(case) for name, (_, case) in CASES.items() if case.failure is not None}
    path.write_bytes(
        pickle.dumps({name: (failure, proposed(name, failure)) for name, failure in found.items() if failure})
    )


def proposed(name: str, failure: Failure) -> list[tuple[str, str, str, tuple[tuple[str, bytes], ...]]]:
    """What the page's rule proposes: title, reason, safety, and the files it changes."""
    file, case = CASES[name]
    rule = rule_at(file).with_options(case.options)
    notes: list[str] = []
    diagnoses = diagnose(failure, [rule], notes)
    patches = list(propose(diagnoses, {rule.id: rule}, Sources(case.before.get), notes))
    assert not notes
    return [
        (each.title, each.because, each.safety, tuple((edit.path, edit.after) for edit in each.edits))
        for each in patches
    ]


def recorded() -> dict[str, tuple[Failure, list[tuple[str, str, str, tuple[tuple[str, bytes], ...]]]]]:
    given = os.environ.get("DEVFIX_RECORDED", "")
    return pickle.loads(Path(given).read_bytes()) if given else {}


@pytest.mark.parametrize("name", recorded())
def test_case(name: str) -> None:
    failure, before = recorded()[name]
    found = proposed(name, failure)
    assert found == before
    case = CASES[name][1]
    assert not found if case.after is None else {**case.before, **dict(found[0][3])} == case.after_all


if __name__ == "__main__":
    record(Path(sys.argv[1]))
