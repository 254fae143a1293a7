"""What comments and docstrings say of what is made on the host, and of what is brought there."""

from __future__ import annotations

import pytest
from objection_cases import strengths

SCRIPT = """import torch

def main(device):
    draft = torch.nn.Linear(2, 2){}
    return draft
"""


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("small enough for the host: the GPU is full", ["strong"]),
        ("on the CPU, which is fast enough", ["strong"]),
        ("to save GPU memory", ["strong"]),
        ("two columns", []),
        ("should be on the CPU, too", []),
        ("TODO: for the CPU", []),
    ],
)
def test_what_a_comment_says_of_a_local_name(comment: str, expected: list[str]) -> None:
    line = SCRIPT.format(f"  # {comment}")
    assert strengths(line, ("Linear(2, 2)", "Linear(2, 2).to(device)")) == expected
    assert strengths(line, ("Linear(2, 2)", "Linear(2, 2, device=device)")) == expected
    assert strengths(line, ("return draft", "return draft.to(device)")) == []


POOL = """class Pool:
    \"\"\"{}\"\"\"

    def __init__(self):
        self.images = []

    def add(self, image):
        self.images.append(image.cpu().clone())
"""
DROPPED = ("image.cpu().clone()", "image.clone()")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Images of earlier steps, kept in host memory.", ["strong"]),
        ("Images of earlier steps.", []),
        ("Moves what is in host memory.", []),
    ],
)
def test_what_a_class_says_of_what_is_brought_to_the_host(words: str, expected: list[str]) -> None:
    assert strengths(POOL.format(words), DROPPED) == expected
    function = f'def keep(kept, image):\n    """{words}"""\n    kept.append(image.cpu().clone())\n'
    assert strengths(function, DROPPED) == expected


@pytest.mark.parametrize(("name", "expected"), [("train_sigmas", ["strong"]), ("betas", [])])
def test_a_word_for_several_attributes_names_each_of_them(name: str, expected: list[str]) -> None:
    text = (
        'import torch\n\nclass Schedule:\n    """Sigmas and steps are on the host: each step reads a number."""\n\n'
        "    def __init__(self, n):\n        self.steps = n\n"
        f"        self.{name} = torch.linspace(0, 1, n)\n"
    )
    assert strengths(text, ("linspace(0, 1, n)", 'linspace(0, 1, n, device="cuda")')) == expected


PLACED = """import torch

class Net(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.table = torch.nn.Embedding(8, 2, device={})
        self.head = torch.nn.Linear(2, 2, device=config.device)

def main(config):
    net = Net(config)
    return net
"""


@pytest.mark.parametrize(
    ("device", "expected"), [("config.table_device", ["strong"]), ("config.device", []), ("None", ["strong"])]
)
def test_a_module_that_makes_its_parts_on_two_devices(device: str, expected: list[str]) -> None:
    assert strengths(PLACED.format(device), ("Net(config)", "Net(config).to(config.device)")) == expected
