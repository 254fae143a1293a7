from __future__ import annotations

import shlex

import pytest
from packaging.requirements import Requirement

from devfix.cli.extras import extra_requirements


@pytest.mark.parametrize("extra", ["publish", "gitlab", "forgejo", "environments", "fleet"])
def test_what_an_extra_requires_can_be_given_to_pip(extra: str) -> None:
    listed = [Requirement(each) for each in shlex.split(extra_requirements(extra))]
    assert listed
    assert not [each for each in listed if each.name == "devfix"], "devfix is on no index"


def test_extras_of_requirements_are_kept_and_those_of_devfix_listed_in_full() -> None:
    listed = {each.name: each for each in map(Requirement, shlex.split(extra_requirements("fleet")))}
    assert listed["ray"].extras == {"default"}
    assert {"duckdb", "pyarrow", "uv", "pyyaml"} <= set(listed)
