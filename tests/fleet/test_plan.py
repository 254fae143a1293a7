"""Plans: refs become commits, and a key names what decides a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from git_repositories import git, make_repository, write

from devfix.errors import UserError
from devfix.fleet.planning import Plan, make_plan, read_fleet_file
from devfix.fleet.planning.plan import key_of
from devfix.fleet.records import JobLimits
from devfix.fleet.run import jobs_to_run
from devfix.model import JobMode, JobOutcome


def plan(folder: Path, text: str, environment: Mapping[str, str] | None = None) -> Plan:
    (folder / "fleet.toml").write_text(text)
    return make_plan(read_fleet_file(folder / "fleet.toml"), "1.0", environment or {}, lambda words: None)


def test_refs_become_commits(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "model", {"main.py": "1\n"})
    first = git(folder, "rev-parse", "HEAD")
    git(folder, "tag", "-a", "v1", "-m", "one")
    git(folder, "branch", "old")
    write(folder, {"main.py": "2\n"})
    git(folder, "commit", "--quiet", "--all", "-m", "two")
    second = git(folder, "rev-parse", "HEAD")
    entry = f'[[repository]]\naddress = "file://{folder}"\n'
    refs = ["", 'ref = "v1"\n', 'ref = "old"\n', f'ref = "{first}"\n']
    found = [plan(tmp_path, entry + ref).jobs[0] for ref in refs]
    assert [job.commit for job in found] == [second, first, first, first]
    assert {job.repository for job in found} == {"model"}
    # The same commit by three names is one job.
    assert len({job.key for job in found}) == 2
    assert len(plan(tmp_path, "".join(entry + ref for ref in refs)).jobs) == 2


def test_what_cannot_be_read_is_left_out_with_a_line(tmp_path: Path) -> None:
    make_repository(tmp_path / "good", {"main.py": "1\n"})
    found = plan(tmp_path, '[[repository]]\npath = "good"\n[[repository]]\npath = "none"\n')
    assert len(found.jobs) == 1
    (line,) = found.unresolved
    assert "repository 2" in line and "none" in line and "\n" not in line
    found = plan(tmp_path, '[[repository]]\npath = "good"\n[[repository]]\npath = "good"\nref = "gone"\n')
    assert "has no branch or tag 'gone'" in found.unresolved[0]
    with pytest.raises(UserError, match="no repository of the fleet can be read"):
        plan(tmp_path, '[[repository]]\npath = "none"\n')


def test_tests_are_lifted_to_the_world_of_an_entry(tmp_path: Path) -> None:
    make_repository(tmp_path / "model", {"main.py": "1\n"})
    entry = '[[repository]]\npath = "model"\n'
    (job,) = plan(tmp_path, '[fleet]\nmode = "find"\n' + entry + 'world = "xpu"\ngpus = 1\n').jobs
    assert (job.mode, job.options) == (JobMode.FIND, ("--world", "xpu", "--gpus", "1"))
    (job,) = plan(tmp_path, '[fleet]\nmode = "find"\n' + entry).jobs
    assert job.options == ()


def test_a_key_names_what_decides_the_result(tmp_path: Path) -> None:
    make_repository(tmp_path / "model", {"main.py": "1\n"})
    (job,) = plan(tmp_path, '[[repository]]\npath = "model"\n').jobs
    assert plan(tmp_path, '[[repository]]\npath = "model"\n').jobs[0].key == job.key
    changed = [
        replace(job, commit="0" * 40),
        replace(job, address="elsewhere"),
        replace(job, options=("--gpus", "2")),
        replace(job, packages=("numpy",)),
        replace(job, torch="cu128"),
        replace(job, limits=JobLimits(seconds=7200.0)),
        replace(job, network=True),
    ]
    keys = {key_of(each, "1.0") for each in changed}
    assert len(keys) == len(changed) and job.key not in keys
    assert key_of(job, "1.1") != job.key
    assert key_of(replace(job, ref="main", repository="other"), "1.0") == job.key


def test_jobs_with_a_result_are_not_run_again_unless_the_cause_may_be_gone(tmp_path: Path) -> None:
    make_repository(tmp_path / "model", {"main.py": "1\n"})
    jobs = plan(tmp_path, '[[repository]]\npath = "model"\n').jobs
    key = jobs[0].key
    assert jobs_to_run(jobs, {}, ()) == list(jobs)
    assert jobs_to_run(jobs, {key: JobOutcome.NOT_REPAIRED}, ()) == []
    assert jobs_to_run(jobs, {key: JobOutcome.CLONE_FAILED}, ()) == list(jobs)
    assert jobs_to_run(jobs, {key: JobOutcome.TIMED_OUT}, ()) == []
    assert jobs_to_run(jobs, {key: JobOutcome.TIMED_OUT}, [JobOutcome.TIMED_OUT]) == list(jobs)


def test_a_token_goes_to_its_forge_alone(tmp_path: Path) -> None:
    """A host that only sounds like GitHub is none; nor is one that fleet.toml does not name as one."""
    from devfix.fleet.planning.fleet_file import Repository, Settings
    from devfix.fleet.planning.owner import token_of

    tokens = {"GITHUB_TOKEN": "github-secret", "GITLAB_TOKEN": "gitlab-secret"}

    def sent(address: str, forge: str = "") -> str | None:
        return token_of(Repository(Settings(), "here", address, forge=forge), tokens)

    assert sent("https://github.com/ada/model") == "github-secret"
    assert sent("https://gitlab.com/ada/model") == "gitlab-secret"
    assert sent("https://git.example.org/ada/model", "gitlab") == "gitlab-secret"
    for address in ("https://github.example.org/a/b", "https://example.org/a/b", "http://github.com/a/b", "/a/path"):
        assert sent(address) is None, address
