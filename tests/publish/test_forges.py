"""What holds on every forge: the same scenarios over real git, and every request held against the API's description."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import Publish
from forge_server import READER, ForgeServer
from git_repositories import git
from github_server import READER as GITHUB_READER
from github_server import Fault, GitHub
from programs import FIRST, SECOND, TRAIN, History

from devfix.publish.marker import find

Server = ForgeServer | GitHub
BETTER = (*FIRST[:4], b"torch.ones(2)", b'torch.ones(2, device="cuda")')
CREATE = ("POST", "/(pulls|merge_requests)$")


def test_a_failure_becomes_one_branch_and_one_pull_request(
    there: Publish, forge: Server, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "report.json", FIRST, SECOND)
    (step,) = there(report)
    (pull,) = forge.pulls
    assert (step["action"], step["number"]) == ("opened", 1) and step["url"].startswith(forge.url)
    assert pull["title"] == step["title"] == "fix: move `x` to the model's device and 1 more device failure"
    assert (pull["head"]["ref"], pull["base"]["ref"], pull["state"]) == (step["branch"], "main", "open")
    marker = find(pull["body"])
    assert marker is not None and marker.complete and marker.tip == forge.branches()[step["branch"]]
    subjects = git(forge.bare, "log", "--format=%s", f"main..{step['branch']}").splitlines()
    assert subjects == ["fix: move `mask` to the model's device", "fix: move `x` to the model's device"]
    forge.requests.clear()
    (step,) = there(report)
    assert step["action"] == "unchanged" and forge.writes() == []


@pytest.mark.slow
def test_it_is_updated_at_a_later_commit_and_by_a_better_fix(
    there: Publish, forge: Server, history: History, tmp_path: Path
) -> None:
    there(history.artifact(tmp_path / "1.json", FIRST))
    before = forge.branches()
    history.commit({"train.py": b"# longer now\n" + TRAIN}, "docs: explain", forge.url_with_token)
    (step,) = there(history.artifact(tmp_path / "2.json", (FIRST[0], FIRST[1] + 1, *FIRST[2:])))
    assert (step["action"], step["number"], len(forge.pulls)) == ("updated", 1, 1)
    assert history.commit_id in forge.pulls[0]["body"]
    assert forge.branches() | {"main": ""} == before | {"main": ""}  # the same change: no check is started again
    (step,) = there(history.artifact(tmp_path / "3.json", (BETTER[0], BETTER[1] + 1, *BETTER[2:])))
    assert (step["action"], len(forge.pulls)) == ("updated", 1)
    assert 'device="cuda"' in git(forge.bare, "show", f"{step['branch']}:train.py")


@pytest.mark.slow
def test_it_is_closed_when_the_failure_is_gone_and_comes_back_with_it(
    there: Publish, forge: Server, history: History, tmp_path: Path
) -> None:
    there(history.artifact(tmp_path / "1.json", FIRST))
    clean = history.artifact(tmp_path / "2.json", outcome="clean")
    (step,) = there(clean)
    assert (step["action"], forge.pulls[0]["state"]) == ("closed", "closed")
    assert "no longer fails this way" in forge.comments[0]["body"]
    assert list(there(clean)) == []
    (step,) = there(history.artifact(tmp_path / "3.json", FIRST))
    assert (step["action"], step["number"], forge.pulls[0]["state"]) == ("reopened", 1, "open")
    there(clean)
    git(forge.bare, "branch", "-D", step["branch"])
    (step,) = there(history.artifact(tmp_path / "4.json", FIRST))
    assert (step["action"], step["number"]) == ("opened", 2)


@pytest.mark.slow
@pytest.mark.parametrize("branch_is_deleted", [False, True])
def test_what_a_person_closed_stays_closed(
    there: Publish, forge: Server, history: History, tmp_path: Path, branch_is_deleted: bool
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    (step,) = there(report)
    forge.close(1)
    if branch_is_deleted:
        git(forge.bare, "branch", "-D", step["branch"])
    forge.requests.clear()
    (step,) = there(report)
    assert (step["action"], step["number"]) == ("left", 1) and "closed by a person" in step["why"]
    assert forge.writes() == []


@pytest.mark.slow
def test_after_a_merge_a_failure_that_is_back_gets_a_new_one(
    there: Publish, forge: Server, history: History, tmp_path: Path
) -> None:
    there(history.artifact(tmp_path / "1.json", FIRST))
    forge.merge(1)
    history.commit({}, "chore: nothing", forge.url_with_token)
    (step,) = there(history.artifact(tmp_path / "2.json", FIRST))
    assert (step["action"], step["number"]) == ("opened", 2)


@pytest.mark.slow
def test_another_base_has_pull_requests_of_its_own(
    there: Publish, forge: Server, history: History, tmp_path: Path
) -> None:
    git(forge.bare, "branch", "release/1.x", "main")
    report = history.artifact(tmp_path / "1.json", FIRST)
    (first,), (second,) = there(report), there(report, "--base", "release/1.x")
    assert [(step["action"], step["number"]) for step in (first, second)] == [("opened", 1), ("opened", 2)]
    assert [pull["base"]["ref"] for pull in forge.pulls] == ["main", "release/1.x"]
    there(history.artifact(tmp_path / "2.json", outcome="clean"))
    assert [pull["state"] for pull in forge.pulls] == ["closed", "open"]


@pytest.mark.slow
def test_a_label_that_cannot_be_created_is_a_note(
    there: Publish, forge: Server, history: History, tmp_path: Path
) -> None:
    forge.known_labels = {"bug"}
    report = history.artifact(tmp_path / "1.json", FIRST)
    (step,) = there(report, "--label", "bug", "--label", "devfix")
    assert (step["action"], step["number"]) == ("opened", 1) and "without its labels: " in step["why"]
    assert [step["action"] for step in there(report, "--label", "devfix")] == ["unchanged"]


@pytest.mark.slow
def test_it_is_given_its_labels_people_and_milestone_once(
    there: Publish, forge: Server, history: History, tmp_path: Path
) -> None:
    forge.open_milestones = {"0.9": 3, "1.0": 4}
    options = ("--label", "bug", "--label", "gpu", "--reviewer", "grace", "--assignee", "ada", "--milestone", "1.0")
    report = history.artifact(tmp_path / "1.json", FIRST)
    (step,) = there(report, *options)
    (pull,) = forge.pulls
    assert (step["action"], step["why"]) == ("opened", "")
    assert (pull["labels"], pull["reviewers"], pull["assignees"]) == (["bug", "gpu"], ["grace"], ["ada"])
    assert pull["milestone"] == 4
    pull["labels"].clear()  # a person took them off
    forge.requests.clear()
    assert [step["action"] for step in there(report, *options)] == ["unchanged"]
    assert forge.writes() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "why"),
    [
        (("--reviewer", "eve"), "without its reviewers: "),
        (("--assignee", "eve"), "without assignees: "),
        (("--assignee", "nobody"), "without assignees: "),
        (("--milestone", "2.0"), "without its milestone: no open milestone is called '2.0'"),
    ],
)
def test_what_the_forge_refuses_is_a_note(
    there: Publish, forge: Server, history: History, tmp_path: Path, option: tuple[str, str], why: str
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    (step,) = there(report, *option)
    assert step["action"] == "opened" and step["why"].startswith(why)
    assert [step["action"] for step in there(report, *option)] == ["unchanged"]


@pytest.mark.slow
def test_a_draft_stays_one_and_keeps_the_title_of_a_person(
    there: Publish, forge: Server, history: History, tmp_path: Path
) -> None:
    there(history.artifact(tmp_path / "1.json", FIRST), "--draft")
    drafted = forge.pulls[0]["title"]
    assert forge.pulls[0].get("draft") or drafted.startswith(("Draft: ", "WIP: "))
    there(history.artifact(tmp_path / "2.json", FIRST, SECOND), "--draft")
    assert forge.pulls[0]["title"] == drafted + " and 1 more device failure"
    forge.pulls[0]["title"] = drafted.partition("fix: ")[0] + "Mine"
    there(history.artifact(tmp_path / "3.json", FIRST), "--draft")
    assert forge.pulls[0]["title"] == drafted.partition("fix: ")[0] + "Mine"


@pytest.mark.slow
def test_no_more_are_open_than_may_be(there: Publish, forge: Server, history: History, tmp_path: Path) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST, SECOND)
    actions = [step["action"] for step in there(report, "--per-fix", "--max-open", "1")]
    assert actions == ["opened", "left"] and len(forge.pulls) == 1
    assert [step["action"] for step in there(report, "--per-fix", "--max-open", "1")] == ["unchanged", "left"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(*CREATE, 502),
        Fault(*CREATE, 502, after=True),
        Fault(*CREATE, 429, {"Retry-After": "0"}),
        Fault("GET", "/(pulls|merge_requests)[?]", 503),
        Fault("POST", "git-receive-pack", 503),
    ],
)
def test_passing_faults_are_waited_for(
    there: Publish, forge: Server, history: History, tmp_path: Path, fault: Fault
) -> None:
    forge.faults = [fault]
    (step,) = there(history.artifact(tmp_path / "1.json", FIRST))
    assert forge.faults == [] and (step["action"], len(forge.pulls)) == ("opened", 1)


def test_a_long_wait_is_left_to_the_next_run(there: Publish, forge: Server, history: History, tmp_path: Path) -> None:
    limit = (403, {"retry-after": "3000"}) if isinstance(forge, GitHub) else (429, {"Retry-After": "3000"})
    forge.faults = [Fault("GET", "/(pulls|merge_requests)[?]", *limit)]
    assert "run again in 50 minutes" in there.refused(history.artifact(tmp_path / "1.json", FIRST))


def test_what_ends_between_the_push_and_the_pull_request_is_completed(
    there: Publish, forge: Server, history: History, tmp_path: Path
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    forge.faults = [Fault(*CREATE, 401, message="gone")]
    there.refused(report)
    assert len(forge.branches()) == 2 and forge.pulls == []
    (step,) = there(report)
    assert (step["action"], len(forge.pulls), len(forge.branches())) == ("opened", 1, 2)


def test_a_wrong_token_is_one_line(
    there: Publish, forge: Server, history: History, tmp_path: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = history.artifact(tmp_path / "1.json", FIRST)
    monkeypatch.setenv(variable, "nonsense-0123456789")
    said = there.refused(report)
    assert variable in said and "nonsense" not in said
    reader = GITHUB_READER if isinstance(forge, GitHub) else READER
    monkeypatch.setenv(variable, reader)
    said = there.refused(report)
    assert f"in {variable}" in said and reader not in said and set(forge.branches()) == {"main"}
    monkeypatch.delenv(variable)
    assert f"set the environment variable {variable}" in there.refused(report)


def test_a_fork_cannot_pose_as_one_of_ours(there: Publish, forge: Server, history: History, tmp_path: Path) -> None:
    (step,) = there(history.artifact(tmp_path / "0.json", FIRST), "--dry-run")
    assert step["action"] == "opened" and forge.writes() == [] and set(forge.branches()) == {"main"}
    if isinstance(forge, GitHub):
        forge.add(step["branch"], "mine", "", repo={"full_name": "mallory/model"})  # type: ignore[arg-type]
    else:
        forge.add(step["branch"], "mine", "", fork=True)
    forge.close(1)
    (step,) = there(history.artifact(tmp_path / "1.json", FIRST))
    assert (step["action"], step["number"]) == ("opened", 2)


@pytest.mark.slow
def test_more_than_a_hundred_are_seen(there: Publish, forge: Server, history: History, tmp_path: Path) -> None:
    there(history.artifact(tmp_path / "1.json", FIRST))
    for number in range(120):
        forge.add(f"feature-{number}", "a feature", "")
    (step,) = there(history.artifact(tmp_path / "2.json", outcome="clean"))
    assert (step["action"], step["number"]) == ("closed", 1)


def test_a_comment_is_written_once_and_then_again(
    there: Publish, forge: Server, history: History, tmp_path: Path
) -> None:
    forge.add("patch-1", "a feature", "")
    report = history.artifact(tmp_path / "1.json", FIRST)
    (step,) = there(report, "--pull-request", "1")
    assert step["action"] == "commented" and step["url"].startswith(forge.url)
    assert [step["action"] for step in there(report, "--pull-request", "1")] == ["unchanged"]
    forge.add("patch-2", "a feature", "")
    copied = {"body": forge.comments[0]["body"]}  # a stranger's, with our sign in it
    if isinstance(forge, GitHub):
        forge.add_comment(copied, 2, kind="User")
    else:
        forge.add_note(copied, 2, author=3)  # type: ignore[attr-defined]
    assert [step["action"] for step in there(report, "--pull-request", "2")] == ["commented"]
    clean = history.artifact(tmp_path / "2.json", outcome="clean")
    assert [step["action"] for step in there(clean, "--pull-request", "1")] == ["updated"]
    assert "runs without device failures" in forge.comments[0]["body"] and set(forge.branches()) == {"main"}


def test_a_secret_is_published_nowhere(there: Publish, forge: Server, history: History, tmp_path: Path) -> None:
    secret = "hf_" + "a1B2" * 9
    leak = (*FIRST[:4], b"net(x)", f'net(x.to("cuda"), token="{secret}")'.encode())
    said = there.refused(history.artifact(tmp_path / "1.json", leak))
    assert "what looks like a Hugging Face token" in said and secret not in said
    assert forge.pulls == [] and set(forge.branches()) == {"main"}


def test_a_redirect_gets_no_token(there: Publish, forge: Server, history: History, tmp_path: Path) -> None:
    elsewhere = {"Location": "http://localhost:9/stolen"}
    forge.faults = [Fault("GET", "/(pulls|merge_requests)[?]", 301, elsewhere)]
    there.refused(history.artifact(tmp_path / "1.json", FIRST))
    assert forge.faults == [] and forge.pulls == []
