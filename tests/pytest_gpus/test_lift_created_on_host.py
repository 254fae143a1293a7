"""Silent findings of lifted tests: every way in which a library may create what it leaves on the host."""

from __future__ import annotations

import pytest
from suite_runs import run

EXPRESSIONS = {
    "factory": "torch.randn(2)",
    "legacy": "torch.FloatTensor([1.0, 2.0])",
    "legacy_empty": "torch.Tensor(2).fill_(3)",
    "legacy_integers": "torch.LongTensor([0, 1])",
    "in_a_list": "torch.cat([torch.FloatTensor([float(each)]) for each in x])",
    "random_in_place": "torch.empty(2).uniform_()",
    "one_hot": "torch.nn.functional.one_hot(torch.LongTensor([0, 1]), 3)",
    "padded": "torch.nn.utils.rnn.pad_sequence([torch.tensor([1.0]), torch.tensor([2.0, 3.0])])",
}
TESTS = """
import pytest, torch, library

x = torch.ones(2)

@pytest.mark.parametrize("name", [each for each in vars(library) if not each.startswith("_") and each != "torch"])
def test_result(name):
    assert getattr(library, name)(x).sum().item() is not None

def test_of_the_inputs():
    assert library.of_inputs(x, torch.ones(2, device="cpu").uniform_()).sum().item() > 0
"""
OF_INPUTS = """
def of_inputs(x, more=None):
    rows = [x, x[:1]] if more is None else [more, more[:1]]
    return torch.nn.utils.rnn.pad_sequence(rows) + torch.nn.functional.one_hot(rows[0].long() * 0, 2)
"""


@pytest.mark.slow
def test_what_the_library_creates_on_the_host(pytester: pytest.Pytester) -> None:
    functions = (f"\ndef {name}(x):\n    return {expression}\n" for name, expression in EXPRESSIONS.items())
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library="import torch\n" + "".join(functions) + OF_INPUTS, test_use=TESTS)
    done = run(pytester, "--lift", "--lift-strict", "--world", "simulated")
    failed = {line for line in done.outlines if line.startswith("FAILED ")}
    names = {line.partition("[")[2].partition("]")[0] for line in failed}
    assert names == set(EXPRESSIONS), done.stdout.str()
