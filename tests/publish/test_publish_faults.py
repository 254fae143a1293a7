"""Faults of GitHub's and of networks: waited for, and what was left half done is completed."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import Publish
from github_server import Fault, GitHub
from programs import FIRST, History


@pytest.mark.parametrize(
    "fault",
    [
        Fault("POST", "/pulls$", 502),
        Fault("POST", "/pulls$", 502, after=True),
        Fault("POST", "/pulls$", 403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "0"}),
        Fault("POST", "/pulls$", 403, {"retry-after": "0"}),
        Fault("POST", "/pulls$", 429),
        Fault("POST", "/pulls$", 403, message="You have exceeded a secondary rate limit. Please wait a few minutes."),
        Fault("GET", "/pulls[?]", 503),
        Fault("POST", "git-receive-pack", 503),
        Fault("GET", "info/refs", 502),
    ],
)
def test_passing_faults_are_waited_for(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, fault: Fault
) -> None:
    hub.faults = [fault]
    (step,) = publish(history.artifact(tmp_path / "1.json", FIRST))
    assert hub.faults == []
    assert (step["action"], len(hub.pulls)) == ("opened", 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/pulls$"), ("POST", "/labels$"), ("PATCH", "/pulls/1$"), ("POST", "git-receive-pack")],
)
def test_what_was_left_half_done_is_completed(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, method: str, path: str
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    hub.faults = [Fault(method, path, 500) for _ in range(20)]
    publish.refused(report, "--label", "bug")
    hub.faults = []
    (step,) = publish(report, "--label", "bug")
    assert step["action"] in ("opened", "updated")
    assert len(hub.pulls) == 1 and hub.pulls[0]["labels"] == ["bug"]
    assert len(hub.branches()) == 2
    (step,) = publish(report, "--label", "bug")
    assert step["action"] == "unchanged"


def test_a_long_wait_is_left_to_the_next_run(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    hub.faults = [Fault("GET", "/pulls[?]", 403, {"retry-after": "3000"})]
    assert "run again in 50 minutes" in publish.refused(history.artifact(tmp_path / "1.json", FIRST))
