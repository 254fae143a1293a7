"""An index that alone is asked, and folders of their own for what is cached."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from package_index import PackageIndex, package_index


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    for name in list(os.environ):
        if name.startswith(("UV_", "PIP_")):
            monkeypatch.delenv(name)
    with package_index(tmp_path / "index") as served:
        monkeypatch.setenv("UV_DEFAULT_INDEX", served.address)
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield served
