"""Examples in docstrings that fail on the CPU: for want of a GPU, or of a module."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repositories import make_repository
from searches import find

LIBRARY = '''
import torch


def shifted(x):
    """Return the next numbers.

    >>> shifted(torch.ones(2).cuda()).sum()
    tensor(4., device='cuda:0')
    """
    return x + torch.ones(2)


def drawn(x):
    """Draw numbers.

    >>> import library_that_is_nowhere
    >>> drawn(torch.ones(2))
    """


def doubled(x):
    """Return twice the numbers.

    >>> doubled(torch.ones(1)).item()
    2.0
    """
    return 2 * x
'''


@pytest.mark.slow
def test_what_an_example_lacks_is_told_and_one_for_a_gpu_is_lifted(tmp_path: Path) -> None:
    told = find(make_repository(tmp_path / "project", {"library.py": LIBRARY}))
    assert (told["tests"], told["passed_cpu"], told["missing"]) == (3, 1, ["library_that_is_nowhere"])
    (finding,) = told["findings"]
    assert (finding["path"], finding["line"], finding["confirmed"]) == ("library.py", 11, True)
    assert finding["failure"]["operands"][0]["creation"]["path"] == "<doctest library.shifted[0]>"
