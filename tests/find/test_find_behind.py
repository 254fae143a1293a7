"""`devfix find`: a finding that hides others in its tests, which go on past it."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repositories import make_repository
from searches import find

LIBRARY = """
import torch

def scaled(x):
    y = x * torch.ones(len(x))
    return shifted(y) + torch.ones(len(x), device=x.device)

def shifted(x):
    shift = torch.full((len(x),), 2.0)
    for _ in range(2):
        x = x + shift
        x = shift + x
    return x

def counted(x):
    total = torch.zeros(len(x))
    total += x
    return total

def listed(x):
    return torch.zeros(len(x)).add(torch.tensor(1.0))
"""
TESTS = """
import torch
from library import counted, listed, scaled

def test_scaled():
    assert scaled(torch.ones(2)).sum() == 20

def test_counted():
    x = counted(torch.ones(2))
    assert listed(x * torch.ones(2)).sum() == 2
"""


@pytest.mark.slow
def test_what_a_finding_hides_is_found(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\npythonpath = .\n", "library.py": LIBRARY, "tests/test_library.py": TESTS}
    told = find(make_repository(tmp_path / "project", files), "--gpus", "1")
    places = {(each["line"], each["kind"]): each for each in told["findings"]}
    assert sorted(places) == [(5, "raises"), (9, "raises"), (16, "raises"), (21, "result-on-host")]
    assert {each["confidence"] for each in places.values()} == {"high", "medium"}
    assert places[9, "raises"]["failing"]["line"] == 11


FOLLOWING = """
import torch

def walked(x):
    start = torch.arange(len(x))
    x = x * start
    x = x + torch.rand(len(x), device=start.device)
    x = x + start.new_ones(len(x)) * torch.zeros_like(start)
    return x + torch.ones(len(x))
"""
WALKS = """
import torch
from library import walked

def test_walked():
    assert walked(torch.ones(2)).shape == (2,)
"""


@pytest.mark.slow
def test_what_follows_from_a_known_finding_is_none(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\npythonpath = .\n", "library.py": FOLLOWING, "tests/test_library.py": WALKS}
    told = find(make_repository(tmp_path / "project", files), "--gpus", "1")
    assert sorted(each["line"] for each in told["findings"]) == [5, 9]
