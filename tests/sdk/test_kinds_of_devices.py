"""A failure that names a kind of device, and no one of that kind."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import meeting, tensor, use_site

from devfix.sdk.fixes.device_expressions import device_expressions


@pytest.mark.parametrize(
    ("wanted", "expected"), [("cuda", ["x.device", "y.device"]), ("cuda:1", ["y.device"]), ("cpu", [])]
)
def test_a_kind_of_device_is_each_of_that_kind(wanted: str, expected: list[str]) -> None:
    """A generator is refused by its kind: `Expected a 'cuda' device type for generator`."""
    scope = [tensor("x", "cuda:0"), tensor("y", "cuda:1")]
    code = "def f(x, y, generator):\n    return draw(x, generator)\n"
    diagnosis, source = meeting(code, "draw(x, generator)", scope=scope)
    finding = replace(diagnosis.finding, device=wanted)
    site = replace(use_site(diagnosis), frame=None, scope=tuple(scope))
    file = source.file(site.place)
    assert file is not None
    assert device_expressions(replace(diagnosis, finding=finding), site, file) == expected
