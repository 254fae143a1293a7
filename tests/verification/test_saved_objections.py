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


NORM = """import torch

class Norm:
    def __init__(self, width, device=None):
        self.mean = torch.zeros(width)
        self.count = 0

    def state_dict(self):
        return {"mean": self.mean, "count": self.count}

    def counts(self):
        return self.count

    def save(self, path):
        print(path)
"""
NORM_CREATED = ("torch.zeros(width)", "torch.zeros(width, device=device)")
MAIN = 'import torch\nfrom net import Norm\nnorm = Norm(3, device=device)\ntorch.save({}, "mean.pt")\n'


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("norm.state_dict()", ["strong"]),
        ('{"norm": norm.state_dict(), "step": 1}', ["strong"]),
        ("model.state_dict()", []),
        ("norm.counts()", []),
    ],
)
def test_a_state_that_an_object_gives_of_what_its_constructor_creates(written: str, expected: list[str]) -> None:
    others = {"main.py": MAIN.format(written)}
    assert strengths(NORM, NORM_CREATED, {**others, **WITHOUT}) == expected
    assert found(NORM, NORM_CREATED, {**others, **MAPPED}) == []


def test_a_state_that_a_method_keeps() -> None:
    text = NORM + "\n    def update(self, x):\n        self.mean += x\n"
    kept = ("        self.mean += x", "        self.mean = self.mean.to(x.device)\n        self.mean += x")
    assert strengths(text, kept, {"main.py": MAIN.format("norm.state_dict()"), **WITHOUT}) == ["strong"]


def test_an_object_that_writes_what_its_constructor_creates() -> None:
    writing = NORM.replace("print(path)", 'torch.save(self.mean, "mean.pt")')
    assert strengths(writing, NORM_CREATED, WITHOUT) == ["strong"]
    assert found(writing.replace("self.mean, ", "self.mean.cpu(), "), NORM_CREATED, WITHOUT) == []


def test_an_attribute_that_is_moved_from_outside() -> None:
    text = "import torch\n\ndef main(norm, device):\n    norm.update()\n    torch.save(norm.state_dict(), 'mean.pt')\n"
    moved = ("    norm.update()\n", "    norm.mean = norm.mean.to(device)\n")
    assert strengths(text, moved, WITHOUT) == ["strong"]
    assert found(text.replace("norm.state_dict()", "net.state_dict()"), moved, WITHOUT) == []
