"""What speaks against a copy of memory that a tensor shares with an array or a buffer, where one is written to."""

from __future__ import annotations

import pytest
from objection_cases import found, strengths

GIVEN = ("x.numpy()", "x.cpu().numpy()")
HEAD = "import numpy as np\nimport torch\n\ndef change(x, rows):\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("np.random.default_rng(0).shuffle(x.numpy())", ["strong"]),
        ("np.add.at(x.numpy(), rows, 1)", ["strong"]),
        ("x.numpy()[rows] = 0", ["strong"]),
        ("x.numpy().sort()", ["strong"]),
        ("array = x.numpy()\n    array[rows] = -100", ["strong"]),
        ("array = x.numpy()\n    array += 1", ["strong"]),
        ("array = x.numpy()\n    np.clip(array, 0, 1, out=array)", ["strong"]),
        ("array = x.numpy()\n    array[rows] = 0\n    return torch.from_numpy(array)", []),  # read again
        ("array = x.numpy()\n    other = array[rows]\n    array += other\n    print(other)", []),
        ("rows.put(x.numpy())", []),  # into a queue
        ("return np.sort(x.numpy())", []),
        ("array = x.numpy()\n    return array.mean()", []),
    ],
)
def test_what_is_written_to_an_array_never_reaches_a_tensor_on_a_gpu(body: str, expected: list[str]) -> None:
    assert strengths(f"{HEAD}    {body}\n", GIVEN) == expected


KEPT = """import torch

class Priorities:
    def __init__(self, size, device):
        self.tensor = torch.ones(size, device=device)
        self.array = self.tensor.numpy()

    def update(self, index, value):
        {write}
"""
OF_TENSOR = ("self.tensor.numpy()", "self.tensor.cpu().numpy()")


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        ("self.array[index] = value", "net.py:9 writes to `self.array`, which is a copy on the host"),
        ("self.tensor[index] = value", "net.py:9 writes to `self.tensor`, whose memory `self.array` has no more"),
        ("self.tensor.mul_(value)", "net.py:9 writes to `self.tensor`, whose memory `self.array` has no more"),
        ("return self.array[index] + value", ""),
    ],
)
def test_an_object_that_keeps_a_tensor_and_its_array(write: str, expected: str) -> None:
    assert [each.reason.partition(":")[0] for each in found(KEPT.format(write=write), OF_TENSOR)] == (
        [expected.partition(":")[0]] if expected else []
    )

    other = "class Other:\n    def set(self, value):\n        self.array[0] = value\n"
    reads = KEPT.format(write="return self.array[index] + value")
    assert found(reads, OF_TENSOR, {"other.py": other}) == []  # another class's
    assert strengths(reads, OF_TENSOR, {"other.py": "def set(kept):\n    kept.array[0] = 1\n"}) == ["strong"]


ENV = """class Env:
    def __init__(self):
        self.memory, self.calls = bytearray(12), 0

    def step(self, action):
        self.calls += 1
        self.write(action)

    def write(self, action):
        {write}
"""
LOOP = """import torch
from env import Env

def main(device, policy):
    env = Env()
    seen = torch.frombuffer(env.memory, dtype=torch.float32)
    for _ in range(5):
        {before}env.step(policy(seen))
"""
ONCE = ("dtype=torch.float32)\n", "dtype=torch.float32)\n    seen = seen.to(device)\n")
PACKED = 'struct.pack_into("3f", self.memory, 0, 1.0, 2.0, 3.0)'


@pytest.mark.parametrize(
    ("write", "before", "change", "expected"),
    [
        (PACKED, "", ONCE, ["strong"]),
        ("self.memory[:4] = b'1234'", "", ONCE, ["strong"]),
        ("print(self.memory)", "", ONCE, []),
        (PACKED, "", ("policy(seen)", "policy(seen.to(device))"), []),
        ("pass", "env.memory[0] = 1; ", ONCE, ["strong"]),
    ],
)
def test_memory_that_is_renewed_in_a_loop(
    write: str, before: str, change: tuple[str, str], expected: list[str]
) -> None:
    others = {"env.py": ENV.format(write=write)}
    assert strengths(LOOP.format(before=before), change, others) == expected


ALIAS = """import numpy as np
import torch

class Env:
    def __init__(self):
        self.state = np.zeros(3, dtype="float32")
        self.seen = torch.from_numpy(self.state)

    def step(self, action):
        {write}
"""
ROLLOUT = """import torch
from env import Env

env, device = Env(), "cuda"
seen, steps = env.seen, []
while len(steps) < 5:
    steps.append(env.step(torch.relu(seen)))
"""


@pytest.mark.parametrize(("write", "expected"), [("self.state += action", ["strong"]), ("return action", [])])
def test_memory_of_an_attribute_that_its_object_renews(write: str, expected: list[str]) -> None:
    change = ("seen, steps = env.seen, []\n", "seen, steps = env.seen, []\nseen = seen.to(device)\n")
    assert strengths(ROLLOUT, change, {"env.py": ALIAS.format(write=write)}) == expected
    shuffled = "import numpy as np\nimport torch\n\nx = torch.ones(3)\nnp.random.shuffle(x.numpy())\n"
    assert strengths(shuffled, GIVEN) == ["strong"]
