"""An index that alone is asked, and folders of their own for what is cached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from package_index import PackageIndex, sole_index


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    with sole_index(tmp_path, monkeypatch) as served:
        yield served
