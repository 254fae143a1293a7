"""How the run of a candidate is classified in the world that failed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from verifier_cases import FIRST, HOME, failure, make_run

from devfix.model import Diagnosis, Edit, Finding, Patch, Safety
from devfix.model.failure import FailureKind
from devfix.verification.classification import classify_run

KEPT = b"import torch\n\na = {k: v.cpu() for k, v in b.items()}\n"


@pytest.mark.parametrize(
    ("after", "kind", "expected"),
    [
        (b"v", "numpy-on-device", "broken"),
        (b"v", "device-mismatch", "progressed"),
        (b"v.cpu() + 1", "numpy-on-device", "progressed"),
    ],
)
def test_a_removed_copy_to_the_host_that_the_host_needs(after: bytes, kind: FailureKind, expected: str) -> None:
    edit = Edit("n.py", 3, KEPT, KEPT.replace(b"v.cpu()", after))
    patch = Patch("p/r", "Leave `v` where it is", "", Safety.LIKELY, (edit,))
    later = replace(failure(4, 2, 20), kind=kind)
    diagnosis = Diagnosis("p/r", "Wrong", FIRST, Finding(1, "", 0))
    outcome, reason = classify_run(make_run(HOME, FIRST), make_run(HOME, later), patch, diagnosis, ends_well=False)
    assert outcome == expected, reason
