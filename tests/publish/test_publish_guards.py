"""The tests that guard fixes, in pull requests: they go along, each behind the fix with which it passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from calling import Publish
from git_repositories import git
from github_server import GitHub
from programs import FIRST, SECOND, History, written

TEXT = 'import pytest\n\npytest.importorskip("devfix")\n'
WORLDS = {"cpu": {"before": "failed", "after": "clean"}, "cuda x1": {"before": "failed", "after": "clean"}}


def guarded(data: dict[str, Any], **tests: dict[str, Any]) -> dict[str, Any]:
    """Give fixes ("fix0", "fix1") tests."""
    for name, told in tests.items():
        plain = {"path": f"tests/test_devices_{name}.py", "text": TEXT, "exercises": "calls `net`", "worlds": WORLDS}
        data["fixes"][int(name[-1])]["regression_test"] = {**plain, "passes_after_fix": int(name[-1]), **told}
    return data


@pytest.mark.slow
def test_each_test_is_a_commit_behind_its_fix(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    report = written(
        tmp_path / "report.json", guarded(history.data(FIRST, SECOND), fix0={"passes_after_fix": 1}, fix1={})
    )
    (step,) = publish(report)
    log = git(hub.bare, "log", "--reverse", "--name-status", "--format=%s", f"main..{step['branch']}")
    assert [line for line in log.splitlines() if line] == [
        "fix: move `x` to the model's device",
        "M\ttrain.py",
        "fix: move `mask` to the model's device",
        "M\tmodel.py",
        "test: move `x` to the model's device",
        "A\ttests/test_devices_fix0.py",
        "test: move `mask` to the model's device",
        "A\ttests/test_devices_fix1.py",
    ]
    assert git(hub.bare, "show", f"{step['branch']}:tests/test_devices_fix0.py") + "\n" == TEXT
    body = hub.pulls[0]["body"]
    assert "Regression test: `tests/test_devices_fix0.py` calls `net` on simulated GPUs; verified" in body
    assert publish(report)[0]["action"] == "unchanged"


def test_a_test_goes_only_with_all_that_it_was_seen_to_pass_with(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path
) -> None:
    data = guarded(history.data(FIRST, SECOND), fix0={"passes_after_fix": 1}, fix1={})
    first, second = publish(written(tmp_path / "report.json", data), "--per-fix")
    for step in (first, second):
        assert "tests" not in git(hub.bare, "log", "--name-status", f"main..{step['branch']}")
    assert all("Regression test" not in pull["body"] for pull in hub.pulls)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"path": "conftest.py"}, "not a file name of devfix"),
        ({"path": "tests/conftest.py"}, "not a file name of devfix"),
        ({"path": ".github/test_devices_x.py"}, "below .git"),
        ({"path": "../test_devices_x.py"}, "not inside"),
        ({"text": "x = 1\n" * 70}, "was not written by devfix"),
        ({"text": "x" * 9_000}, "was not written by devfix"),
        ({"passes_after_fix": 1}, "was not written by devfix"),
        ({"path": "README.md/test_devices_x.py"}, "would overwrite"),
    ],
)
def test_what_is_no_small_new_file_is_refused(
    publish: Publish, hub: GitHub, history: History, tmp_path: Path, told: dict[str, Any], why: str
) -> None:
    said = publish.refused(written(tmp_path / "report.json", guarded(history.data(FIRST), fix0=told)))
    assert why in said
    assert hub.writes() == []


def test_a_test_never_overwrites_a_file(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    history.commit({"tests/test_devices_fix0.py": "mine = True\n"}, "test: mine", hub.url_with_token)
    hub.requests.clear()
    said = publish.refused(written(tmp_path / "report.json", guarded(history.data(FIRST), fix0={})))
    assert "would overwrite" in said
    assert hub.writes() == []


def test_a_secret_in_a_test_is_not_published(publish: Publish, hub: GitHub, history: History, tmp_path: Path) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    told = {"text": f'{TEXT}\n\nTOKEN = "{token}"\n'}
    publish.refused(written(tmp_path / "report.json", guarded(history.data(FIRST), fix0=told)))
    assert hub.writes() == []
