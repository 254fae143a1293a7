"""What a repair leaves with `--output` is taken by `devfix show` and `devfix publish --dry-run`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import get_args

import pytest
from git_repositories import git, make_repository
from github_server import TOKEN, github

from devfix.cli import status
from devfix.model import VerdictOutcome
from devfix.report.record import OUTCOMES

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import cases  # noqa: E402

QUICK = [case for path in sorted((ROOT / "corpus").glob("*/case.toml")) if (case := cases.read_case(path.parent)).quick]
FAST = {"hello", "mps-mask-on-host"}  # the others take minutes together
LOADER_LOOP = """import torch
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(32, 8), torch.randint(0, 2, (32,))), batch_size=16)
model = torch.nn.Linear(8, 2).to(device)
criterion = torch.nn.CrossEntropyLoss()
for inputs, labels in loader:
    loss = criterion(model(inputs.to(device)), labels)
    loss.backward()
print("done")
"""


def round_trip(
    folder: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *options: str
) -> dict[str, object]:
    """Repair, show the report in each format, publish it dry, and return it."""
    found = temporary / "found"
    command = ["repair", str(folder), "--python", sys.executable, "--output", str(found)]
    assert status([*command, *options]) in (0, 1), capfd.readouterr().err
    for format in ("text", "json", "github", "sarif", "summary", "outputs"):
        assert status(["show", str(found), "--format", format]) == 0, capfd.readouterr().err
    data = json.loads((found / "report.json").read_text())
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    with github(temporary / "hub", folder) as hub:
        if data["branch"]:
            git(hub.bare, "branch", "-D", data["branch"])  # cloned with the repository, which has it from the repair
        assert status(["publish", str(found), "--remote", hub.url, "--dry-run"]) == 0, capfd.readouterr().err
        assert not hub.writes()
    return data


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=() if case.name in FAST else pytest.mark.exhaustive) for case in QUICK],
)
def test_the_report_of_a_quick_case_is_shown_and_published(
    case: cases.Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    files = {path.relative_to(case.folder).as_posix(): path.read_bytes() for path in sorted(case.folder.rglob("*.*"))}
    files.pop("case.toml")
    folder = make_repository(tmp_path / case.name, files)
    gpus = ["--gpus", str(case.gpus)] if case.gpus else []
    options = ["--run", case.run, "--world", case.world, *gpus, *(f"--exclude={glob}" for glob in case.exclude)]
    assert round_trip(folder, tmp_path, monkeypatch, capfd, *options)["outcome"] == case.outcome


@pytest.mark.slow
def test_a_report_with_a_candidate_that_was_not_needed_is_shown_and_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = make_repository(tmp_path / "loop", {"main.py": LOADER_LOOP})
    data = round_trip(folder, tmp_path, monkeypatch, capfd, "--run", "python main.py", "--world", "simulated")
    assert data["outcome"] == "repaired"
    rejected = data["rejected"]
    assert isinstance(rejected, list)
    assert "superseded" in {each["verdict"]["outcome"] for each in rejected}


def test_schema_and_words_know_every_outcome_of_a_verdict() -> None:
    schema = json.loads((ROOT / "src/devfix/report/schema.json").read_text())
    assert set(schema["$defs"]["VerdictRecord"]["properties"]["outcome"]["enum"]) == set(get_args(VerdictOutcome))
    assert list(OUTCOMES) == list(get_args(VerdictOutcome))
