"""Checksums of values, whatever device the program has made the default one."""

from __future__ import annotations

import pytest
import torch

from devfix.probe.counters import checksums


@pytest.mark.parametrize("size", [3, 3 * checksums.MOST])
def test_a_default_device_changes_no_checksum(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(checksums, "_weights", [])
    values = torch.linspace(1.0, 2.0, size)
    with torch.device("meta"):
        weighed, number = checksums.weigh(values), checksums.weigh(2)
    assert weighed is not None and weighed == checksums.weigh(values)
    assert number is not None and number == checksums.weigh(2)
