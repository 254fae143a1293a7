"""A key by which a run found a tensor names its device only where the code around knows the key."""

from __future__ import annotations

import pytest
from mismatch_factory import meeting, tensor, use_site

from devfix.sdk.fixes.device_expressions import device_expressions


@pytest.mark.parametrize(
    ("beside", "is_known"),
    [("def g():\n    return {'user': 1}\n", False), ("  def g(self):\n    return 'user'\n", True)],
)
def test_a_key_that_another_function_writes_is_one_of_this_run(beside: str, is_known: bool) -> None:
    code = f"class A:\n  def f(self, c, x, mask, m):\n    return x + mask\n{beside}"
    scope = [tensor('c["user"]', "cuda:0"), tensor("m.layer.weight", "cuda:0", type="torch.nn.parameter.Parameter")]
    diagnosis, source = meeting(code, "x + mask", scope=scope)
    site = use_site(diagnosis, "mask")
    file = source.file(site.place)
    assert file is not None
    assert ('c["user"].device' in device_expressions(diagnosis, site, file)) is is_known
