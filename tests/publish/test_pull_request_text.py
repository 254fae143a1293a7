"""The body of a pull request whose report has a failure without a fix."""

from pathlib import Path

import pytest
from programs import FIRST, SECOND, History, written

from devfix.publish.proposals.artifact import open_artifact
from devfix.publish.proposals.proposal import proposals
from devfix.publish.proposals.pull_request_text import PullRequestText

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("ended", "words"),
    [("clean", "that the program catches: `--include-handled` repairs"), ("failed", "that devfix has no fix for.")],
)
def test_says_what_is_left(history: History, tmp_path: Path, ended: str, words: str) -> None:
    data = history.data(FIRST, SECOND)
    left = {"outcome": "unrepaired", "fixes": data["fixes"][:1], "last_run": {**data["last_run"], "outcome": ended}}
    artifact = open_artifact(written(tmp_path / "report.json", data | left))
    (proposal,) = proposals(artifact, history.content)
    body = PullRequestText(artifact.data, [], lambda rule: "").body(proposal)
    assert f"reaches 1 more failure {words}" in body
