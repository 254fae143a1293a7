"""What speaks against leaving on a GPU what is written to a file."""

from __future__ import annotations

import pytest
from objection_cases import found, strengths

COLLECT = """import torch

def collect(net, device):
    total = torch.zeros(3)
    for step in range(4):
        total = total + net(step)
    return {returned}

def main(device):
    {received} = collect(Net(), device)
    {write}
"""
CREATED = ("torch.zeros(3)", "torch.zeros(3, device=device)")
WITHOUT = {"plot.py": 'import torch\nmean = torch.load("mean.pt")\n'}
MAPPED = {"plot.py": 'import torch\nmean = torch.load("mean.pt", map_location="cpu")\n'}


def collecting(write: str, returned: str = "total / 4", received: str = "mean") -> str:
    return COLLECT.format(write=write, returned=returned, received=received)


@pytest.mark.parametrize(
    ("write", "others", "expected"),
    [
        ('torch.save(mean, "mean.pt")', WITHOUT, ["strong"]),
        ('torch.save({"mean": mean.detach()}, "out/mean.pt")', WITHOUT, ["strong"]),
        ("torch.save([mean.mean(0)[1:]], path)", WITHOUT, ["strong"]),
        ('torch.save(mean, "mean.pt")', MAPPED, []),
        ('torch.save(mean, "mean.pt")', {}, []),
        ('torch.save(mean, "other.pt")', WITHOUT, ["weak"]),
        ('torch.save(mean, "mean.pt"); torch.load("mean.pt")', {}, ["weak"]),
        ('torch.save(mean.cpu(), "mean.pt")', WITHOUT, []),
        ('torch.save(mean.to("cpu"), "mean.pt")', WITHOUT, []),
        ('torch.save(mean.tolist(), "mean.pt")', WITHOUT, []),
        ('torch.save(mean.shape, "mean.pt")', WITHOUT, []),
        ('torch.save(float(mean), "mean.pt")', WITHOUT, []),
        ("pickle.dump(mean, file)", {"plot.py": "import pickle\nmean = pickle.load(file)\n"}, ["strong"]),
        ('mean = mean.cpu()\n    torch.save(mean, "mean.pt")', WITHOUT, []),
        ("print(mean)", WITHOUT, []),
    ],
)
def test_a_value_that_is_created_on_a_gpu_and_written(write: str, others: dict[str, str], expected: list[str]) -> None:
    assert strengths(collecting(write), CREATED, others) == expected


def test_the_part_of_a_result_that_is_written() -> None:
    both = 'torch.save(count, "mean.pt")'
    assert strengths(collecting(both, "total, count", "mean, count"), CREATED, WITHOUT) == []
    (objection,) = found(collecting('torch.save(mean, "mean.pt")', "total, 4", "mean, count"), CREATED, WITHOUT)
    assert objection.reason == (
        "net.py:11 writes `mean` to a file, now from a GPU, and plot.py:2 reads such a file without one too"
    )


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("rows[0] = total", []),  # what is written into a tensor goes where that is
        ("rows = [total]", ["strong"]),
        ("rows.append(total)", ["strong"]),
        ("rows = [total]\n    rows = rows[0].cpu()", []),
    ],
)
def test_what_a_function_keeps_of_a_value(steps: str, expected: list[str]) -> None:
    text = (
        f"import torch\n\ndef run(device, rows):\n    total = torch.zeros(3)\n    {steps}\n    torch.save(rows, path)\n"
    )
    assert strengths(text, CREATED, WITHOUT) == expected


SCORES = """import torch

def evaluate(net, data, device):
    scores = net(data.to(device)).cpu()
    torch.save(scores, "scores.pt")
    return scores
"""


def test_a_move_to_the_host_that_is_dropped_before_a_value_is_written() -> None:
    dropped = (".cpu()", "")
    assert strengths(SCORES, dropped) == ["weak"]
    assert strengths(SCORES, dropped, {"read.py": 'import torch\ntorch.load("scores.pt")\n'}) == ["strong"]
    assert strengths(SCORES.replace("torch.save", "print"), dropped) == []
    script = 'import torch\nscores = net(data).cpu()\ntorch.save(scores, "scores.pt")\n'
    assert strengths(script, dropped) == ["weak"]


@pytest.mark.parametrize(
    "change",
    [
        ("Net()", "Net().to(device)"),  # a checkpoint is read to where its reader wants it
        ("net.train()", "net.to(device).train()"),
    ],
)
def test_a_module_whose_state_is_written(change: tuple[str, str]) -> None:
    text = (
        "import torch\n\ndef run(device):\n    net = Net()\n    net.train()\n    torch.save(net.state_dict(), path)\n"
    )
    assert strengths(text, change, WITHOUT) == []
