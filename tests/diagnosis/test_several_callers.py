"""What several calls get from one function is created on the device there, and not moved by each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from devfix_rules.placement.factory_without_device import FactoryWithoutDevice
from mismatch_factory import meeting, place

from devfix.model import Confidence, Event
from devfix.sdk import Context, Sources

HELPER = "import torch\n\n\ndef make(n):\n    return torch.zeros(n)\n\n\n"
USE = "def f(x):\n    mask = make(3)\n    return x + mask\n"
OTHER = "\n\ndef g(x):\n    return x * make(4)\n"


@pytest.mark.parametrize(
    ("code", "confidence"),
    [
        (HELPER + USE + OTHER, Confidence.NEARBY),
        (HELPER + USE, Confidence.REMOTE),
        ((HELPER + USE + OTHER).replace("make(n)", "make(n, **options)"), Confidence.REMOTE),
        ((HELPER + USE + OTHER).replace("torch.zeros(n)", "torch.zeros(n).to(device)"), Confidence.REMOTE),
    ],
)
def test_a_function_of_several_calls_gets_a_parameter_first(code: str, confidence: Confidence) -> None:
    made = Event("factory", "aten::zeros", "cpu", (place(code, "torch.zeros(n)", "make"), place(code, "make(3)")))
    diagnosis, _ = meeting(code, "x + mask", history=(made,))
    files = {"main.py": code.encode()}
    sources = Sources(files.get, lambda texts: [path for path, data in files.items() if texts[0].encode() in data])
    finding = FactoryWithoutDevice().diagnose(Context(diagnosis.failure, sources, replace(diagnosis.finding)))
    assert finding is not None and finding.confidence is confidence
