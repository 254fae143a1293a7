"""Which indexes are asked: those configured for uv, else those of pip; and folders with CPU builds of torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.environments.cpu_wheels import cpu_release
from devfix.environments.indexes import index_lines


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)


def test_indexes_of_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://one.example/simple\nno-index = false\n")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://two.example/simple https://ada:key@three.example/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "/wheels")
    lines = index_lines()
    assert "--index-url https://one.example/simple" in lines
    assert {"--extra-index-url https://two.example/simple", "--find-links /wheels"} <= {*lines}
    assert "--extra-index-url https://ada:key@three.example/simple" in lines
    assert "--no-index" not in lines


def test_indexes_of_uv_stand_where_they_are_unless_they_have_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://one.example/simple")
    monkeypatch.setenv("UV_INDEX", "https://two.example/simple")
    assert index_lines() == []
    monkeypatch.setenv("UV_DEFAULT_INDEX", "own=https://ada:key@three.example/simple")
    assert index_lines() == ["--index-url https://ada:key@three.example/simple"]
    monkeypatch.delenv("UV_INDEX")
    monkeypatch.delenv("UV_DEFAULT_INDEX")
    (tmp_path / "config" / "uv").mkdir(parents=True)
    (tmp_path / "config" / "uv" / "uv.toml").write_text("")
    assert index_lines() == []


def test_the_newest_cpu_build_for_an_interpreter(tmp_path: Path) -> None:
    for name in ("2.8.0+cpu-cp311-cp311", "2.10.0+cpu-cp311-cp311", "2.11.0+cpu-cp312-cp312", "2.12.0-cp311-cp311"):
        (tmp_path / f"torch-{name}-linux_x86_64.whl").touch()
    (tmp_path / "torch-nothing.whl").touch()
    lines = ["--index-url https://one.example/simple", f"--find-links {tmp_path}"]
    assert cpu_release(lines, "3.11.7") == "torch==2.10.0+cpu"
    assert cpu_release(lines, "3.12.1") == "torch==2.11.0+cpu"
    assert cpu_release(lines, "3.13.0") == ""
