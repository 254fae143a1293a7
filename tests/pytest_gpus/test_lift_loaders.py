"""`pytest --lift`: data that a test has made, and the lift put on a GPU, are read by loaders as its author's are."""

from __future__ import annotations

import pytest
from suite_runs import run

LOADS = """
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, get_worker_info

class Made:
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.ones(1) * index

class Halves(IterableDataset):
    def __iter__(self):
        return iter(range(get_worker_info().id, 4, 2))

def test_processes_that_cannot_use_a_gpu():
    loader = DataLoader(TensorDataset(torch.arange(4.0)), num_workers=2, pin_memory=True, persistent_workers=True)
    for _ in range(2):
        assert [(x.is_cuda, x.item()) for (x,) in loader] == [(True, 0.0), (True, 1.0), (True, 2.0), (True, 3.0)]
    assert loader.num_workers == 2 and loader.pin_memory

def test_memory_that_is_not_pinned():
    assert all(x.is_cuda for x in DataLoader(Made(), pin_memory=True))

def test_data_that_are_made_in_processes():
    assert [x.item() for x in DataLoader(Made(), num_workers=1)] == [0.0, 1.0]

def test_parts_that_processes_share_out():
    assert sorted(torch.cat(list(DataLoader(Halves(), num_workers=2))).tolist()) == [0, 1, 2, 3]

def test_processes_with_a_beginning_of_their_own():
    begun = torch.zeros(2, device="cpu").share_memory_()
    assert len(list(DataLoader([0, 1, 2], num_workers=2, worker_init_fn=lambda number: begun[number].fill_(1)))) == 3
    assert begun.sum() == 2
"""


@pytest.mark.slow
def test_loaders_read_what_lies_on_the_gpu(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(LOADS)
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=5)


TRAINS = """
import library
import torch
from torch.utils.data import DataLoader, TensorDataset

def loader():
    return DataLoader(TensorDataset(torch.ones(2, 3), torch.ones(2)))

def test_batches_that_are_moved():
    assert library.moving(torch.nn.Linear(3, 1), loader()).is_cuda

def test_batches_that_are_not_moved():
    library.total(torch.nn.Linear(3, 1), loader())

def test_loaders_of_the_library():
    library.of_tensors(torch.nn.Linear(3, 1), torch.ones(2, 3))

def test_batches_of_test_code():
    assert all(x.is_cuda for x, _ in loader())
"""
LIBRARY = """
from torch.utils.data import DataLoader, TensorDataset

def moving(model, batches):
    return sum(model(x.to(next(model.parameters()).device)).sum() for x, _ in batches)

def total(model, batches):
    result = 0
    for x, y in batches:
        result += model(x).sum()
    return result

def of_tensors(model, data):
    return sum(model(x).sum() for x, in DataLoader(TensorDataset(data)))
"""
CHOSEN = """
import pytest

@pytest.fixture(autouse=True)
def device():
    return "cpu"
"""


@pytest.mark.slow
def test_on_two_gpus_the_code_under_test_gets_batches_on_the_host(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=LIBRARY, test_trains=TRAINS)
    done = run(pytester, "--lift", "--gpus", "2", "--world", "simulated")
    done.assert_outcomes(passed=3, failed=1)
    done.stdout.fnmatch_lines(["*created at library.py:8 *for x, y in batches*", "*3 passed, 1 ended in a finding*"])


@pytest.mark.slow
@pytest.mark.parametrize(("gpus", "conftest"), [(1, ""), (2, CHOSEN)], ids=["one GPU", "a chosen device"])
def test_otherwise_it_gets_them_where_the_data_lie(pytester: pytest.Pytester, gpus: int, conftest: str) -> None:
    pytester.makepyfile(library=LIBRARY, test_trains=TRAINS, conftest=conftest)
    run(pytester, "--lift", "--gpus", str(gpus), "--world", "simulated").assert_outcomes(passed=4)
