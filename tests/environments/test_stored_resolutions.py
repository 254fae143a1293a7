"""A resolution stands for a day: no index is asked while nothing has changed on which it depends."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from git_repositories import make_repository, write
from package_index import PackageIndex

from devfix.environments import Environment, EnvironmentRequest, build_environment, clear_environments
from devfix.environments.stored_resolutions import LONGEST, StoredResolution

PROJECT = '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["leaf"]\n'
ORDINARY = EnvironmentRequest(torch="none")


def build(folder: Path, request: EnvironmentRequest = ORDINARY, below: str = "") -> Environment:
    return build_environment(folder, below, request, lambda step: None)


@pytest.fixture
def program(index: PackageIndex, tmp_path: Path) -> Path:
    """A repository whose environment is built."""
    index.add("leaf")
    index.add("stem")
    folder = make_repository(tmp_path / "program", {"pyproject.toml": PROJECT})
    build(folder)
    index.requests.clear()
    return folder


def test_no_index_is_asked_again(
    program: Path, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "another"))  # uv has no answer of its own
    again = build(program)
    assert (again.reused, again.packages, index.requests) == (True, ("leaf==1.0",), [])
    clear_environments()
    assert not build(program).reused and index.requests


@pytest.mark.slow
def test_it_is_asked_with_refresh_and_after_a_day(program: Path, index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf", "2.0")
    (stored,) = (tmp_path / "cache" / "devfix" / "resolutions").iterdir()
    assert build(program).packages == ("leaf==1.0",)
    record = msgspec.json.decode(stored.read_bytes(), type=StoredResolution)
    stored.write_bytes(msgspec.json.encode(replace(record, resolved_at=record.resolved_at - LONGEST / 2)))
    half = build(program)
    assert half.packages == ("leaf==1.0",) and LONGEST / 2 <= half.resolution_age < LONGEST
    assert build(program, replace(ORDINARY, refresh=True)).packages == ("leaf==2.0",)
    assert build(program).packages == ("leaf==2.0",) and index.requests
    stored.write_bytes(msgspec.json.encode(replace(record, resolved_at=record.resolved_at - LONGEST)))
    assert build(program).resolution_age == 0


def change_pyproject(folder: Path, patch: pytest.MonkeyPatch) -> None:
    write(folder, {"pyproject.toml": PROJECT.replace('"leaf"', '"leaf>=1"')})


def change_settings(folder: Path, patch: pytest.MonkeyPatch) -> None:
    write(folder, {"uv.toml": 'resolution = "lowest"\n'})


def change_lock(folder: Path, patch: pytest.MonkeyPatch) -> None:
    lock = '[[package]]\nname = "leaf"\nversion = "1.0"\nsource = { registry = "x" }\n'
    write(folder, {"uv.lock": lock})


def change_variable(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("UV_PRERELEASE", "allow")


def change_configuration(folder: Path, patch: pytest.MonkeyPatch) -> None:
    write(Path(os.environ["XDG_CONFIG_HOME"]), {"uv/uv.toml": 'prerelease = "allow"\n'})


@pytest.mark.parametrize(
    "change", [change_pyproject, change_settings, change_lock, change_variable, change_configuration]
)
def test_what_it_depends_on_has_changed(
    program: Path,
    index: PackageIndex,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path, pytest.MonkeyPatch], None],
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "another"))
    change(program, monkeypatch)
    assert build(program).packages == ("leaf==1.0",)
    assert index.requests


@pytest.mark.parametrize(
    "request_", [replace(ORDINARY, packages=("stem",)), replace(ORDINARY, builds=False)], ids=["packages", "builds"]
)
def test_another_request_is_another_resolution(
    program: Path, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_: EnvironmentRequest
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "another"))
    assert len(build(program, request_).packages) == 1 + len(request_.packages)
    assert index.requests


@pytest.mark.slow
def test_what_is_said_of_it_is_said_again(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf", "2.0")
    index.add_source("sources", "1.0", {"setup.py": ""})
    lock = '[[package]]\nname = "leaf"\nversion = "1.0"\nsource = { registry = "x" }\n'
    project = PROJECT.replace('["leaf"]', '["leaf", "sources", "no-such-leaf"]')
    folder = make_repository(tmp_path / "program", {"pyproject.toml": project, "uv.lock": lock})
    first = build(folder, replace(ORDINARY, builds=False))
    index.requests.clear()
    second = build(folder, replace(ORDINARY, builds=False))
    assert not index.requests
    assert len(first.left_out) == 2 and first.notes and first.needs_build
    assert (second.left_out, second.notes, second.needs_build) == (first.left_out, first.notes, True)


@pytest.mark.slow
def test_an_answer_that_did_not_come_is_asked_for_again(
    index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nobody listens to the port of "discard"
    index.add("torch", "2.99.0")
    folder = make_repository(tmp_path / "program", {"requirements.txt": "torch\n"})
    for number in range(2):
        index.requests.clear()
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / f"another-{number}"))
        assert "cannot be reached" in build(folder, EnvironmentRequest()).notes[0]
        assert index.requests


@pytest.mark.slow
def test_local_projects_are_read_each_time(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf")
    inner = '[project]\nname = "inner"\nversion = "1"\ndependencies = []\n'
    source = '[tool.uv.sources]\ninner = { path = "inner" }\n'
    files = {"pyproject.toml": PROJECT.replace('"leaf"', '"inner"') + source, "inner/pyproject.toml": inner}
    folder = make_repository(tmp_path / "program", files)
    assert not any("leaf" in line for line in build(folder).packages)
    write(folder, {"inner/pyproject.toml": inner.replace("[]", '["leaf"]')})
    assert "leaf==1.0" in build(folder).packages
