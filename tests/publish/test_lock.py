"""The lock of the job that can write names all that devfix requires there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("folder", "extra"), [(".github", "publish"), (".gitlab", "gitlab")])
def test_the_lock_of_the_publishing_job_has_what_devfix_requires(folder: str, extra: str) -> None:
    lock = (ROOT / folder / "publish-requirements.txt").read_text()
    locked = dict(re.findall(r"(?m)^([\w.-]+)==([\w.]+)", lock))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    build = project["build-system"]["requires"]
    for text in (*project["project"]["dependencies"], *extras[extra], *build):
        wanted = Requirement(text)
        if wanted.marker is None or wanted.marker.evaluate():
            assert locked[canonicalize_name(wanted.name)] in wanted.specifier, f"{text}: run make lock"
    assert "torch" not in locked and lock.count("--hash=sha256:") > len(locked)
