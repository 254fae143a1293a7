"""Wrong patches of which nothing that is printed tells: each is rejected in a real repair."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_programs import run_program
from verdict_programs import judged, rejected

from devfix.execution.prefork import PreforkServer

pytestmark = pytest.mark.slow

TRAIN = """import torch
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 4).to(device)
weights = torch.tensor([0.5, 1.5])
for step in range(3):
    loss = (model(x) * weights).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("done")
"""
WEIGHTS, PRODUCT = "weights = torch.tensor([0.5, 1.5])", "(model(x) * weights)"
SILENT = {
    "learns nothing": (PRODUCT, "(model(x).detach() * weights.to(device)).requires_grad_()"),
    "learns nothing in another way": (PRODUCT, "(model(x).detach() * weights.to(device) + 0 * model(x))"),
    "has other values": (PRODUCT, "(model(x) * weights.to(device) * 2)"),
    "has them in another order": (PRODUCT, "(model(x) * weights.to(device)).T"),
    "draws a random number more": (WEIGHTS, f"{WEIGHTS}.to(device)\ntorch.rand(1)"),
    "stops early": ("range(3):\n", "range(3):\n    weights = weights.to(device)\n    if step == 2:\n        break\n"),
    "goes on another way": (WEIGHTS, f"{WEIGHTS}.to(device); optimizer.param_groups[0]['lr'] = 0.2"),
}


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of wrong changes that nothing printed tells of, tried in one repair, the right one last."""
    right = (WEIGHTS, f"{WEIGHTS}.to(device)")
    report = judged(tmp_path_factory.mktemp("silent"), *SILENT.values(), right, program=TRAIN)
    assert report.outcome == "repaired" and f"+{right[1]}\n" in report.diff
    return dict(zip(SILENT, rejected(report), strict=True))


@pytest.mark.parametrize("name", SILENT)
def test_what_is_computed_otherwise_is_dropped(name: str, silent: dict[str, str]) -> None:
    assert silent[name].startswith("behaviour-changed: the program computes something else in the world cpu: aten::")


BIAS, SUM = "bias = torch.ones(3)", "    return (first + bias).sum()"
AWAY = {
    "no GPU any more": ('"cuda" if torch.cuda.is_available() else "cpu"', '"cpu"'),
    "the peer is not moved": ("weight = torch.ones(3).to(device)", "weight = torch.ones(3)"),
    "the peer is moved back": (SUM, "    return (first.cpu() + bias).sum()"),
    "no GPU is seen": ("import torch\n", "import torch\ntorch.cuda.is_available = lambda: False\n"),
}
APART = (
    SUM,
    "    return (first + bias.to(first.device)).sum() if not first.is_cuda else (first + bias.cuda()).sum() * 3",
)


def test_what_takes_the_work_off_the_gpu_or_works_there_alone_is_dropped(tmp_path: Path) -> None:
    report = judged(tmp_path, *AWAY.values(), APART, (BIAS, f"{BIAS}.to(device)"))
    assert report.outcome == "repaired" and f"+{BIAS}.to(device)\n" in report.diff
    *away, apart = rejected(report)
    assert len(away) == len(AWAY) and all(said.startswith("broken: it takes the work off the GPU") for said in away)
    assert apart == "behaviour-changed: its lines compute on the GPU what they do not without one: aten::mul"


OTHERS = {
    "nothing": (BIAS, f'bias = torch.zeros(3, device=device) if device.type == "cuda" else {BIAS[7:]}'),
    "the peer itself": (SUM, "    return (first + (bias if bias.device == first.device else first)).sum()"),
    "memory as it was found": (SUM, "    return (first + (torch.empty_like(first) if first.is_cuda else bias)).sum()"),
    "a part of the peer": (SUM, "    return (first + (first[:1] if first.is_cuda else bias)).sum()"),
    "a number": (SUM, "    return (first + (7.0 if first.is_cuda else bias)).sum()"),
    "a sum, which may meet any device": (SUM, "    return (first + (bias.sum() if first.is_cuda else bias)).sum()"),
    "the peer has other values": (SUM, "    first.data = bias.to(first.device)\n    return (first + first).sum()"),
}


@pytest.fixture(scope="module")
def handed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of changes that hand on something else where there is a GPU, tried in one repair."""
    report = judged(tmp_path_factory.mktemp("handed"), *OTHERS.values(), (BIAS, f"{BIAS}.to(device)"))
    assert report.outcome == "repaired" and f"+{BIAS}.to(device)\n" in report.diff
    return dict(zip(OTHERS, rejected(report), strict=True))


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_handed_on_in_place_of_the_tensor_is_seen(name: str, handed: dict[str, str]) -> None:
    assert handed[name] == "behaviour-changed: where it failed aten::add is given other values than it was"


PRINTS = """import torch
x = torch.ones(2, device="cuda" if torch.cuda.is_available() else "cpu")
print((x + torch.arange(2)).sum())
"""


def test_what_torch_itself_computes_to_print_a_gpu_tensor_is_no_matter(tmp_path: Path) -> None:
    report = judged(tmp_path, ("torch.arange(2)", "torch.arange(2, device=x.device)"), program=PRINTS)
    assert report.outcome == "repaired", rejected(report)


LAST = """import torch
count = torch.cuda.device_count()
device = torch.device(f"cuda:{count - 1}" if count else "cpu")
weight = torch.ones(3).to(device)
bias = torch.arange(3)
print((weight + bias).sum().item())
"""


def test_of_two_that_hold_the_one_that_holds_in_more_worlds_is_kept(tmp_path: Path) -> None:
    bias = "bias = torch.arange(3)"
    wrong = [(bias, f'{bias}.to("cuda:0" if count else "cpu")'), (bias, f"{bias}.cuda() if count else {bias[7:]}")]
    report = judged(tmp_path, *wrong, (bias, f"{bias}.to(device)"), program=LAST)
    assert f"+{bias}.to(device)\n" in report.diff
    assert all("runs in more worlds" in said for said in rejected(report)) and len(rejected(report)) == 2


NUMPY = """import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.arange(3.0).to(device) * 2
y = x.numpy()
"""


def test_a_way_to_numpy_that_is_skipped_is_dropped(tmp_path: Path) -> None:
    call, instead = "y = x.numpy()", "if device.type == 'cuda':\n    raise SystemExit(0)\ny = x.numpy()"
    skipped = (call, "y = x.tolist() if x.is_cuda else x.numpy()")
    report = judged(tmp_path, (call, instead), skipped, (call, "y = x.cpu().numpy()"), program=NUMPY)
    assert report.outcome == "repaired" and "+y = x.cpu().numpy()\n" in report.diff
    said = rejected(report)
    assert len(said) == 2 and all("torch.Tensor.numpy does not run any more" in each for each in said)


def test_a_program_without_a_seed_is_repaired(tmp_path: Path) -> None:
    program = TRAIN.replace("torch.manual_seed(0)\n", "")
    report = judged(tmp_path, SILENT["learns nothing"], (WEIGHTS, f"{WEIGHTS}.to(device)"), program=program)
    assert report.outcome == "repaired" and f"+{WEIGHTS}.to(device)\n" in report.diff
    assert "runs 0 times" in rejected(report)[0], "how often an operator runs is compared all the same"


def test_what_the_probe_counts(tmp_path: Path, warm: PreforkServer) -> None:
    program = """
        import torch
        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.arange(4.0).to(device)
        y = torch.softmax(x.view(2, 2) * 2, 0).sort()
        z = x.clone().reshape(4)[:2]
        w = torch.ones(3, dtype=torch.cfloat).abs().max().item()
        n = torch.full((2,), float("nan")) * 2
    """
    found = {}
    for world in ("cpu", "simulated"):
        (tmp_path / world).mkdir()
        trace = run_program(tmp_path / world, program, warm=warm, world=world, totals=True).trace
        found[world] = {each["op"]: each for each in trace["operator_totals"]}
    names = {"aten::mul", "aten::_softmax", "aten::sort", "aten::abs", "aten::max"}
    assert found["cpu"].keys() == found["simulated"].keys() == names
    for name, host, device in (("aten::mul", 1, 1), ("aten::sort", 0, 1), ("aten::abs", 1, 0)):
        told = found["simulated"][name]
        assert (told["host"], told["device"], told["size"]) == (host, device, 0)
        assert found["cpu"][name]["host"] == host + device and found["cpu"][name]["size"] > 0
    assert found["cpu"]["aten::mul"]["size"] < 50, "what is not a number is left out"


COUNTS = """import numpy as np
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
store = np.zeros(3, dtype=np.float32)
counts = torch.from_numpy(store)
for row in torch.eye(3).to(device):
    counts += row
print(store.sum())
"""


def test_a_copy_of_what_is_written_to_is_dropped_where_others_hold_the_tensor(tmp_path: Path) -> None:
    made = "counts = torch.from_numpy(store)"
    report = judged(tmp_path, (made, f"{made}.to(device)"), program=COUNTS)
    assert report.outcome == "unrepaired"
    assert rejected(report) == ["behaviour-changed: on a GPU the program prints 0.0, and 3.0 without one"]


LEAF = """import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.arange(8.0).reshape(4, 2).to(device)
prompt = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([prompt], lr=0.01)
for _ in range(3):
    loss = (x * prompt - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
"""


def test_a_copy_of_what_an_optimizer_trains_is_dropped(tmp_path: Path) -> None:
    loop, made = "for _ in range(3):", "torch.zeros(2, requires_grad=True)"
    right = (made, "torch.zeros(2, device=device, requires_grad=True)")
    report = judged(tmp_path, (loop, f"prompt = prompt.to(device)\n{loop}"), right, program=LEAF)
    assert report.outcome == "repaired" and "zeros(2, device=device" in report.diff
    assert rejected(report)[0].startswith("behaviour-changed: on a GPU the program prints 1.000, and 0.")
