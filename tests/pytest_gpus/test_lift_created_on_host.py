"""Silent findings of lifted tests: every way in which a library may create what it leaves on the host."""

from __future__ import annotations

import re

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
PACKED = """
def last_states(packed):
    return torch.zeros(2, len(packed.batch_sizes))
"""
TESTS = """
import pytest, torch, library
from torch.nn.utils.rnn import pack_sequence

x = torch.ones(2)

@pytest.mark.parametrize("name", %s)
def test_result(name):
    assert getattr(library, name)(x).sum().item() is not None

def test_of_packed_sequences():
    assert library.last_states(pack_sequence([x, x[:1]])).sum().item() == 0

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
    library = "import torch\n" + "".join(functions) + OF_INPUTS + PACKED
    pytester.makepyfile(library=library, test_use=TESTS % list(EXPRESSIONS))
    done = run(pytester, "--lift", "--lift-strict", "--world", "simulated")
    failed = {each for line in done.outlines for each in re.findall(r"^FAILED .*?::(?:test_result\[)?(\w+)", line)}
    assert failed == {*EXPRESSIONS, "test_of_packed_sequences"}, done.stdout.str()
