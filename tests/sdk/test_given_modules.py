"""A device is read from the parameters of a module that a caller gives, and not from a part that this one has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import meeting, tensor, use_site

from devfix.model import ScopeVariable
from devfix.sdk.fixes.device_expressions import device_expressions

WEIGHT = tensor("self.net.weight", "cuda:0", type="torch.nn.parameter.Parameter")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("net", "next(self.net.parameters()).device"),
        ("copy.deepcopy(net).requires_grad_(False)", "next(self.net.parameters()).device"),
        ("nn.Linear(net, net)", "self.net.weight.device"),
        ("net; use(self.net.weight)", "self.net.weight.device"),  # the file counts on that part
    ],
)
def test_no_part_of_a_module_that_a_caller_gives(value: str, expected: str) -> None:
    code = f"class A:\n    def f(self, mask, net):\n        self.net = {value}\n        y = 1 + mask\n"
    scope = [ScopeVariable("self.net", "module", "cuda:0", "Linear"), WEIGHT]
    diagnosis, source = meeting(code, "1 + mask", scope=scope, function="A.f")
    file = source.file(diagnosis.failure.frames[0].place)
    assert file is not None
    site = replace(use_site(diagnosis), scope=tuple(scope))
    assert device_expressions(diagnosis, site, file)[0] == expected
