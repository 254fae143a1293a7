"""Runs of cases are made once and replayed: a result is the same, and what is new is run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rule_packs import AFTER, BEFORE, RULE, left_alone, page, repaired, write_rule
from waiting import HANGS

from devfix.cli import status
from devfix.model import Outcome, Run, World
from devfix.registry.loading import rule_at
from devfix.rule_testing.checking.page_check import judge
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.checking.writing import format_judgement
from devfix.rule_testing.recording.runs import RecordedRuns
from devfix.rule_testing.recording.store import Store

Tested = Callable[..., tuple[str, int, int]]
DRAWN = BEFORE.replace("torch.zeros(3)", "torch.rand(3)")


@pytest.fixture
def tested(tmp_path: Path) -> Tested:
    """Tests a rule with the recorded runs of this test; returns what is printed, and the runs made and replayed."""

    def run(text: str | None = None, rule: str = RULE) -> tuple[str, int, int]:
        recorded = RecordedRuns(Store(tmp_path / "runs"), Path(sys.executable))
        with Bench(Path(sys.executable), HANGS, recorded=recorded) as bench:
            (judgement,) = judge([rule_at(write_rule(tmp_path / "rules", rule=rule, text=text))], bench)
        return format_judgement(judgement), recorded.count["made"], recorded.count["replayed"]

    return run


@pytest.mark.slow
def test_a_run_is_made_once_and_only_what_is_new_is_run(tested: Tested, tmp_path: Path) -> None:
    first, made, _ = tested()
    assert "FAIL" not in first and made > 4
    second, again, replayed = tested()
    assert (second, again) == (first, 0) and replayed >= made

    worse = RULE.replace("yield from site.move_argument()", "yield from _away(site.file.data)") + AWAY
    third, new, replayed = tested(rule=worse)
    assert "a change does not hold: Compute on the host" in third and new >= 1, "another change is verified by a run"
    assert replayed >= 2, "the program without it is not run again"
    assert tested(rule=worse)[:2] == (third, 0)

    records = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    for number, record in enumerate(sorted(records)):
        record.write_bytes((b"", b"not a record", record.read_bytes()[:-9])[number % 3])
    assert tested()[0] == first and tested()[1] == 0, "a broken record is as good as none, and replaced"


AWAY = """

def _away(before):
    from devfix.sdk import Edit, Safety
    after = before.replace(b"(weight + bias)", b"(weight.cpu() + bias)").replace(b".tolist()", b".sum().item()")
    yield Change("Compute on the host", Safety.SAFE, (Edit("main.py", 6, before, after),))
"""


def test_a_note_on_a_program_does_not_keep_its_run_from_being_recorded(tmp_path: Path) -> None:
    recorded = RecordedRuns(Store(tmp_path), Path(sys.executable))
    clean = Run(World("cpu"), ("python", "main.py"), Outcome.CLEAN, 0, 1.0)
    noted = replace(clean, notes=("it sees 1 of 2 GPUs",))
    recorded.put("a1", noted)
    recorded.put("b2", replace(clean, internal_errors=("a trace was torn",)))
    assert (recorded.get("a1"), recorded.get("b2")) == (noted, None)


@pytest.mark.slow
def test_a_program_without_a_seed_is_run_each_time(tested: Tested) -> None:
    """Two runs of it differ by chance: what one of them did says nothing certain about the next."""
    text = page(repaired(), left_alone(before=DRAWN.replace("(3)\n", "(3).to(device).cpu()\n", 1)))
    tested(text)
    assert tested(text)[1] > 0
    seeded = text.replace("import torch\n", "import torch\n\ntorch.manual_seed(0)\n").replace("main.py:6", "main.py:8")
    tested(seeded)
    assert tested(seeded)[1] == 0


SHUFFLED = """import torch
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
bias = torch.zeros(1)
for (row,) in DataLoader(TensorDataset(torch.ones(2, 1))):
    print((row.to(device) + bias).tolist())
"""


@pytest.mark.slow
def test_what_a_bench_runs_twice_is_recorded_twice(tested: Tested) -> None:
    """A loader draws the seed of its workers, so that no two runs compute the same: only a second run shows that."""
    failure = "device-mismatch at main.py:7\nRuntimeError: Expected all tensors to be on the same device…"
    text = page(repaired(before=SHUFFLED, failure=failure, after=SHUFFLED.replace("+ bias", "+ bias.to(device)")))
    first, made, _ = tested(text)
    assert "a change does not hold" not in first
    assert tested(text) == (first, 0, made)


@pytest.fixture
def rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A rule with two cases, below the current folder, with a cache and a configuration of this test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return write_rule(tmp_path, text=page(left_alone(), repaired(before=AFTER)))


@pytest.mark.slow
def test_the_command_records_unless_it_is_told_not_to(rule: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def last(*options: str) -> str:
        status(["test", str(rule), *options])
        return capsys.readouterr().out.splitlines()[-1]

    assert "replayed" not in last("--no-cache")
    assert not Path("cache").exists()
    assert "replayed" not in last() and len(list(Path("cache/devfix/runs").rglob("??/*"))) == 2
    assert "; 0 runs made, 2 replayed)" in last()
    assert "replayed" not in last("--clear-cache", "--no-cache") and not Path("cache/devfix/runs").exists()


@pytest.mark.slow
def test_the_pytest_plugin_runs_everything(rule: Path, pytester: pytest.Pytester) -> None:
    """It is what continuous integration runs."""
    for _ in range(2):
        done = pytester.runpytest_subprocess("-p", "no:cacheprovider", str(rule.with_suffix(".md")))
        done.assert_outcomes(passed=2, failed=1)
    assert not Path("cache").exists()


@pytest.mark.slow
def test_a_program_that_prints_what_cannot_be_recorded_is_run_again(tested: Tested) -> None:
    strange = repaired(before="import sys\nsys.stdout.reconfigure(errors='surrogatepass')\nprint('\\ud800')\n")
    assert tested(page(strange))[0] == tested(page(strange))[0]
