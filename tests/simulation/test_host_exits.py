"""Tensors of the host in a world: they go past the dispatcher where only a creation is to be told, and nowhere else."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

BEGIN = """
import torch
from devfix.probe.simulation import hooks, world
from devfix.probe.simulation.operator_tables import plans
world.enter("simulated", 2)
told = []
def seen():
    return {plan.name.removeprefix("aten::") for plan in plans._plans.values()}
"""
DIRECT = """
a = torch.ones(3, 3)
b = torch.tensor([[1.0, 2, 3]])
assert torch.equal(torch.nn.functional.linear(a, b), torch.full((3, 1), 6.0))
assert (a + b)[0].exp().sum().item() > 0 and bool(b[0, 0] > 0) and float(torch.rand(1)) < 1
torch.cat([a, b]).view(-1).clone(), torch.zeros_like(a), torch.arange(3)
made = {"ones", "tensor", "linear", "addmm", "add.Tensor", "exp", "sum", "_local_scalar_dense", "rand", "cat", "view",
        "clone", "zeros_like", "arange", "select.int", "gt.Scalar", "full"}
assert not made & seen(), made & seen()
"""
HEARD = """
a = torch.ones(3, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.cuda(), lambda x: x.cpu()):
    (a * a).exp().sum().backward()
assert {"mul.Tensor", "exp", "sum"} <= seen() and a.grad.device.type == "cpu"
for made in (torch.ones(2, device="cuda"), torch.zeros(2, device=1), torch.tensor([1], device="cuda:1"),
             torch.ones_like(torch.ones(2), device="cuda"), torch.ones_like(torch.ones(2).cuda())):
    assert made.is_cuda
with torch.device("cuda:1"):
    assert torch.rand(2).device.index == torch.tensor([1.0]).device.index == 1
assert torch.func.vmap(lambda row: row + row.exp() * torch.ones(2))(torch.ones(3, 2)).shape == (3, 2)
assert torch.rand(2, generator=torch.Generator().manual_seed(0)).tolist() == torch.rand(
    2, generator=torch.Generator().manual_seed(0)).tolist()
torch.manual_seed(0)
first = torch.rand(2), torch.dropout(torch.ones(8), 0.5, True)
torch.manual_seed(0)
torch.rand(5, device="cuda")
assert torch.equal(first[0], torch.rand(2)) and torch.equal(first[1], torch.dropout(torch.ones(8), 0.5, True))
try:
    torch.cat([torch.ones(2), torch.ones(2).cuda()])
except RuntimeError as error:
    assert "cuda:0" in str(error), error
else:
    raise AssertionError("they met")
"""


def _runs(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", BEGIN + program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_plain_operators_do_not_reach_the_dispatcher() -> None:
    _runs(DIRECT)


def test_whoever_listens_hears() -> None:
    """Gradients, devices that are asked for, default devices, transforms, generators, and tensors that meet."""
    _runs(HEARD)
