"""The pull requests of a fleet, over real git and small forges, one for each repository."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fleet_results import job, result
from forge_server import ForgeServer
from github_server import TOKEN, GitHub, github
from programs import FILES, FIRST, SECOND, History

from devfix.cli import status
from devfix.cli.output.pages import page_of
from devfix.fleet.records import Job
from devfix.fleet.results import ResultStore
from devfix.fleet.results.publications import Publication, PublicationLog, PublicationRecord
from devfix.fleet.results.publishing import FleetPublisher, FleetPublishOptions
from devfix.model import JobMode, JobOutcome
from devfix.publish.forges.forge_kind import ForgeKind


class Fleet:
    """Repositories on a forge each, and the results of their jobs."""

    def __init__(self, root: Path, hubs: Sequence[GitHub | ForgeServer], histories: Sequence[History]) -> None:
        self.results, self.hubs, self.histories = root / "results", hubs, histories
        self.jobs = [self.job(number) for number in range(len(hubs))]
        store = ResultStore.create(self.results)
        store.write_plan(self.jobs)
        store.close()

    def job(self, number: int, **changes: Any) -> Job:
        commit = self.histories[number].commit_id
        return job(number, address=self.hubs[number].url, commit=commit, ref="", **changes)

    def add(self, number: int, artifact: Mapping[str, object], **changes: Any) -> None:
        """Store the result of a job, with these reports in its artifact."""
        files = tuple((name, json.dumps(data).encode()) for name, data in artifact.items())
        store = ResultStore.create(self.results)
        store.add(result(self.jobs[number], **{"fixes": 1, "artifact": files} | changes))
        store.close()

    def add_repairs(self) -> None:
        """Store a repair of each repository."""
        for number, history in enumerate(self.histories):
            self.add(number, {"report.json": history.data(FIRST)})

    def open_pulls(self) -> list[int]:
        """Return how many are open in each repository."""
        return [sum(pull["state"] == "open" for pull in hub.pulls) for hub in self.hubs]


@pytest.fixture
def fleet(tmp_path: Path, quick: None) -> Iterator[Fleet]:
    histories = [History.start(tmp_path / f"work-{number}" / "model", FILES) for number in range(3)]
    with ExitStack() as running:
        hubs = [running.enter_context(github(tmp_path / f"hub-{n}", each.folder)) for n, each in enumerate(histories)]
        yield Fleet(tmp_path, hubs, histories)


class Publish:
    """Calls `devfix fleet publish` as a person does."""

    def __init__(self, results: Path, capsys: pytest.CaptureFixture[str], forge: str = "github") -> None:
        self.results, self.capsys, self.forge = results, capsys, forge

    def __call__(self, *options: str, code: int = 0) -> list[dict[str, Any]]:
        ended = status(["fleet", "publish", str(self.results), "--forge", self.forge, "--format", "json", *options])
        out, err = self.capsys.readouterr()
        assert ended == code, (out, err)
        steps: list[dict[str, Any]] = json.loads(out)["steps"]
        return steps


@pytest.fixture
def publish(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> Publish:
    return Publish(fleet.results, capsys)


def kinds(steps: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    return [(each["repository"], each["kind"], each["action"]) for each in steps]


@pytest.mark.slow
def test_each_repository_gets_its_pull_request_once(fleet: Fleet, publish: Publish) -> None:
    fleet.add_repairs()
    steps = publish("--draft", "--label", "devfix")
    assert kinds(steps) == [
        each for n in range(3) for each in ((f"ada/model-{n}", "step", "opened"), (f"ada/model-{n}", "done", ""))
    ]
    assert fleet.open_pulls() == [1, 1, 1]
    assert all(hub.pulls[0]["draft"] and hub.pulls[0]["labels"] == ["devfix"] for hub in fleet.hubs)
    for hub in fleet.hubs:
        hub.requests.clear()
    assert publish() == []
    assert not [request for hub in fleet.hubs for request in hub.requests]
    stored = b"".join(path.read_bytes() for path in fleet.results.rglob("*") if path.is_file())
    assert TOKEN.encode() not in stored


@pytest.mark.slow
def test_a_dry_run_changes_nothing(fleet: Fleet, publish: Publish, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.add_repairs()
    before = sorted(path.name for path in fleet.results.iterdir())
    steps = publish("--dry-run", "--max-open", "2")
    assert [each["action"] or each["kind"] for each in steps] == ["opened", "done", "opened", "done", "left"]
    assert fleet.open_pulls() == [0, 0, 0] and not [request for hub in fleet.hubs for request in hub.writes()]
    assert {*before, "publish.lock"} == {path.name for path in fleet.results.iterdir()}
    options = ["--dry-run", "--forge", "github", "--max-open", "1"]
    assert status(["fleet", "publish", str(fleet.results), *options]) == 0
    text = capsys.readouterr().out
    assert "ada/model-0: would be opened devfix/" in text and "left for a later run: 2 of the reports: 1 pull" in text


@pytest.mark.slow
def test_what_one_refuses_does_not_stop_the_others(fleet: Fleet, publish: Publish) -> None:
    """An artifact that leaves its repository, one about another commit; a later run tries them again."""
    fleet.add_repairs()
    hostile = fleet.histories[0].data(FIRST)
    hostile["fixes"][0]["edits"][0]["path"] = "../../.github/workflows/x.py"
    fleet.add(0, {"report.json": hostile})
    fleet.add(1, {"report.json": fleet.histories[1].data(FIRST) | {"commit": "f" * 40}})
    steps = publish(code=1)
    assert [each["kind"] for each in steps] == ["refused", "refused", "step", "done"]
    assert "not inside the repository" in steps[0]["why"] and "is about the commit" in steps[1]["why"]
    assert fleet.open_pulls() == [0, 0, 1]
    fleet.add(0, {"report.json": fleet.histories[0].data(FIRST)})
    assert [each["kind"] for each in publish(code=1)] == ["step", "done", "refused"]
    assert fleet.open_pulls() == [1, 0, 1]


def test_the_address_is_that_of_the_plan(fleet: Fleet, publish: Publish) -> None:
    """A worker that a program has taken over writes what it likes."""
    data = fleet.histories[0].data(FIRST)
    fleet.add(0, {"report.json": data}, address=fleet.hubs[1].url, repository="eve/model")
    (step, _) = publish()
    assert step["repository"] == "ada/model-0" and fleet.open_pulls() == [1, 0, 0]


@pytest.mark.slow
def test_a_cap_holds_over_the_whole_fleet(fleet: Fleet, publish: Publish) -> None:
    fleet.add(0, {"report.json": fleet.histories[0].data(FIRST)})
    publish("--max-open", "2")
    for number in (1, 2):
        fleet.add(number, {"report.json": fleet.histories[number].data(FIRST)})
    steps = publish("--max-open", "2")
    assert [each["kind"] for each in steps] == ["step", "done", "left"]
    assert "2 pull requests of the fleet are open" in steps[-1]["why"]
    assert fleet.open_pulls() == [1, 1, 0]
    fleet.hubs[0].pulls[0].update(state="closed", closed_at="2026-01-01T00:00:00Z")
    assert [each["action"] for each in publish("--max-open", "2")] == ["opened", ""]
    assert fleet.open_pulls() == [0, 1, 1]


@pytest.mark.slow
def test_a_cap_ends_within_a_search(fleet: Fleet, publish: Publish) -> None:
    """Each report of a search has a pull request of its own, and closes none of the others."""
    history = fleet.histories[0]
    reports = [history.data(bug, command=f"python -m pytest {n}") for n, bug in enumerate((FIRST, SECOND))]
    fleet.jobs[0] = replace(fleet.jobs[0], mode=JobMode.FIND)
    store = ResultStore.create(fleet.results)
    store.write_plan(fleet.jobs)
    store.close()
    names = ("find.json", "1/report.json", "2/report.json")
    fleet.add(0, dict(zip(names, ({}, *reports), strict=True)), outcome=JobOutcome.REPAIRED)
    steps = publish("--max-open", "1")
    assert [each["action"] or each["kind"] for each in steps] == ["opened", "done", "left"]
    steps = publish("--max-open", "5")
    assert [(each["part"], each["action"]) for each in steps] == [("2", "opened"), ("2", "")]
    assert fleet.open_pulls() == [2, 0, 0]
    assert publish() == []


@pytest.mark.slow
def test_it_goes_on_where_it_was_killed(fleet: Fleet, publish: Publish) -> None:
    """The pull request is open, and half a line tells so."""
    fleet.add_repairs()
    publish()
    file = fleet.results / "published.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:2]) + lines[2][:40])
    steps = publish()
    assert [each["action"] for each in steps] == ["unchanged", "", "unchanged", ""]
    assert fleet.open_pulls() == [1, 1, 1]
    assert len(PublicationLog(file).records) == 2 + 4


@pytest.mark.slow
def test_what_is_fixed_is_closed(fleet: Fleet, publish: Publish) -> None:
    fleet.add(0, {"report.json": fleet.histories[0].data(FIRST)})
    publish()
    clean = fleet.histories[0].data(outcome="clean")
    fleet.add(0, {"report.json": clean}, outcome=JobOutcome.CLEAN, fixes=0)
    assert [each["action"] for each in publish()] == ["closed", ""]
    assert fleet.open_pulls() == [0, 0, 0]
    assert publish() == []


@pytest.mark.slow
def test_no_more_are_opened_in_an_hour(fleet: Fleet) -> None:
    """The clock and the sleep are given: an hour passes when it is waited for, also for those of an earlier run."""
    fleet.add_repairs()
    clock, waits, told = [10_000.0], [], []

    def sleep(seconds: float) -> None:
        assert told
        waits.append(seconds)
        clock[0] += seconds

    store, path = ResultStore.open(fleet.results), fleet.results / "published.jsonl"
    PublicationLog(path).add(
        PublicationRecord(kind=Publication.STEP, key="k", repository="r", address="a", action="opened", at=9_000.0)
    )
    publisher = FleetPublisher(
        store,
        PublicationLog(path),
        FleetPublishOptions(50, 2, forge=ForgeKind.github),
        page_of,
        told.append,
        lambda: clock[0],
        sleep,
    )
    assert [each.kind.value for each in publisher.publish()] == ["step", "done"] * 3
    assert waits == [2_600.0, 1_000.0]  # until that of 9 000 is an hour ago, then until that of 10 000 is
    assert fleet.open_pulls() == [1, 1, 1]


def test_results_of_earlier_plans_are_not_published(fleet: Fleet, publish: Publish) -> None:
    fleet.add_repairs()
    store = ResultStore.create(fleet.results)
    store.write_plan(fleet.jobs[1:])
    store.close()
    publish()
    assert fleet.open_pulls() == [0, 1, 1]


def test_without_a_token_everything_is_refused(fleet: Fleet, publish: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.add_repairs()
    monkeypatch.delenv("GITHUB_TOKEN")
    assert {each["kind"] for each in publish(code=1)} == {"refused"}
    assert not [request for hub in fleet.hubs for request in hub.requests]


def test_on_each_forge(
    forge: ForgeServer | GitHub, kind: str, history: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = Fleet(tmp_path, [forge], [history])
    fleet.add(0, {"report.json": history.data(FIRST)})
    published = Publish(fleet.results, capsys, kind)
    assert [each["action"] for each in published()] == ["opened", ""]
    assert fleet.open_pulls() == [1] and published() == []


def test_no_token_is_sent_to_a_host_that_nobody_knows(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.add_repairs()
    assert status(["fleet", "publish", str(fleet.results)]) == 1
    assert capsys.readouterr().out.count("name it with --forge") == 3
    assert not [request for hub in fleet.hubs for request in hub.requests]
