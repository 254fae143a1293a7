"""`devfix find`: device failures that the code under test or a test catches."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repositories import make_repository
from searches import find

LIBRARY = """
import warnings
import numpy
import torch

def scaled(x):
    try:
        return x * torch.ones(len(x))
    except RuntimeError:
        return x

def shifted(x):
    try:
        return x + torch.arange(float(len(x)))
    except Exception as error:
        warnings.warn(str(error))
        return x

def refused(x):
    if len(x) > 2:
        raise ValueError("too long")
    return x - torch.ones(len(x))

def as_array(x):
    try:
        return numpy.asarray(x)
    except TypeError:
        return x.cpu().numpy()

def both(x):
    try:
        x = x - torch.zeros(len(x))
    except RuntimeError:
        pass
    return x - torch.full((len(x),), 3.0)

def too_long(x):
    try:
        return x @ torch.ones(3, device=x.device)
    except RuntimeError:
        return None
"""
TESTS = """
import warnings
import pytest, torch
import library

def test_scaled():
    library.scaled(torch.ones(2))

def test_shifted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.shifted(torch.ones(2))

@pytest.mark.parametrize("length", [2, 3])
def test_refused(length):
    with pytest.raises(Exception):
        library.refused(torch.ones(length))
        raise ValueError

def test_as_array():
    library.as_array(torch.ones(2))

def test_both():
    library.both(torch.ones(2))

def test_fails_as_on_the_cpu():
    assert library.too_long(torch.ones(2)) is None

def test_of_its_own():
    with pytest.raises(RuntimeError):
        torch.ones(2) @ torch.ones(3)
"""


@pytest.mark.slow
def test_what_is_caught_is_found_and_repaired(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\npythonpath = .\n", "library.py": LIBRARY, "tests/test_library.py": TESTS}
    root = make_repository(tmp_path / "project", files)
    told = find(root, "--gpus", "1")
    found = {each["line"]: (each["kind"], each["confidence"], len(each["tests"])) for each in told["findings"]}
    assert found == {
        8: ("handled", "medium", 1),
        14: ("handled", "medium", 1),
        22: ("handled", "medium", 1),
        32: ("handled", "medium", 1),
        35: ("raises", "high", 1),
    }
    left = find(root, "--gpus", "1", "--no-handled", "--select", "*test_scaled")
    assert not left["findings"] and left["passed_lifted"] == 1
    (fixed,) = find(root, "--gpus", "1", "--repair", "--select", "*test_scaled")["findings"]
    assert fixed["fix"]["verdict"] == "verified" and "device=x.device" in fixed["fix"]["diff"], fixed["fix"]
