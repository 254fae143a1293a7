"""`pytest --lift`: what a test shows without failing, and what fails it in a strict run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from suite_runs import run

LIBRARY = """
import functools
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.temperature = torch.tensor(2.0)
        self.order = torch.tensor([2, 0, 1])
        self.heads = [torch.nn.Linear(3, 3)]
        self.tables = {"mean": torch.zeros(3)}
        self.kept = torch.ones(3)
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x):
        return self.linear(x) / self.temperature

    def ordered(self, x):
        return x[..., self.order]

    def penalty(self, x):
        return x.sum() + sum(head.weight.pow(2).sum() for head in self.heads)

    def mean(self):
        return self.tables["mean"] * 2

    def moved(self, x):
        return x + self.kept.to(x.device) * self.scale * torch.tensor(2.0)

    def remembered(self, x):
        self.last = torch.zeros(())
        return x + self.last

def divided(x):
    return torch.sqrt(torch.tensor(2.0)) / x

def clamped(x):
    return x.sum() if x.sum() > 100 else torch.tensor(1.0)

def sized(n):
    return torch.ones(n)

def halved(x):
    return x.cpu() / 2

@functools.lru_cache
def by_device(n, device):
    return torch.ones(n, device=device)

_CACHE = {}

def by_size(n, device):
    if n not in _CACHE:
        _CACHE[n] = torch.ones(n, device=device)
    return _CACHE[n]

def shifted(x):
    return x + by_size(len(x), x.device)

class Weighted(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x):
        return x * self.weight

class Rotary(torch.nn.Module):
    angles = None

    def forward(self, x):
        if self.angles is None or len(self.angles) < len(x):
            self.angles = torch.arange(len(x), device=x.device).cos()
        return x * self.angles

class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)

def applied(net, x):
    return net(x)
"""

TESTS = """
import functools
import pytest, torch
from library import Net, Plain, Rotary, Weighted, applied, by_device, by_size, clamped, divided, halved, shifted, sized

x = torch.ones(1, 3)

def test_number():
    Net()(x)

def test_index():
    assert Net().ordered(x).sum() == 3

def test_list():
    Net().penalty(x)

def test_method():
    assert Net().mean().tolist() == [0, 0, 0]

def test_moved_where_it_is_used():
    assert Net().moved(x).sum() == 9

def test_attribute():
    assert Net().kept.tolist() == [1, 1, 1]

def test_made_in_the_call():
    Net().remembered(x)

def test_result():
    assert clamped(x).item() == 1

def test_result_as_an_array():
    assert clamped(x).numpy() == 1

def test_backward():
    divided(torch.ones(2, requires_grad=True)).sum().backward()

def test_result_of_numbers():
    assert sized(3).sum() == 3

def test_result_taken_to_the_host():
    assert halved(x).tolist() == [[0.5, 0.5, 0.5]]

def test_good_cache():
    assert (torch.ones(2) + by_device(2, torch.ones(1).device)).sum() == 4

def test_cache():
    assert (torch.ones(2) + by_size(2, torch.ones(1).device)).sum() == 4

def test_cache_in_the_library():
    shifted(torch.ones(4))

def test_cache_of_a_module():
    rotary = Rotary()
    assert rotary(torch.ones(2)).shape == (2,)

def test_given_to_a_module():
    assert Weighted(torch.tensor([2.0]))(torch.ones(1)) == 2

@functools.lru_cache
def net_of_tests():
    return Plain()

def test_module_that_test_code_keeps():
    assert applied(net_of_tests(), x).shape == (1, 3)

_KEPT = {}

def test_tensor_that_test_code_keeps():
    if "ones" not in _KEPT:
        _KEPT["ones"] = by_device(3, x.device)
    assert (x + _KEPT["ones"]).sum() == 6

@functools.lru_cache
def ones_of_tests():
    return by_device(5, torch.ones(1).device)

def test_tensor_that_a_function_of_test_code_keeps():
    assert (torch.ones(5) + ones_of_tests()).sum() == 10

@pytest.fixture(scope="module")
def shared():
    return torch.ones(2)

def test_what_tests_share(shared):
    assert (torch.ones(2) + shared).sum() == 4
"""


def results(pytester: pytest.Pytester, *arguments: str) -> dict[str, dict[str, object]]:
    """Run the suite lifted, and return what came of each test."""
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_library=TESTS)
    record = pytester.mkdir("record")
    run(pytester, "--lift", "--world", "simulated", "--lift-record", str(record), *arguments)
    told = map(json.loads, Path(record, "results.jsonl").read_text().splitlines())
    return {each["test"].partition("::test_")[2]: each for each in told if "result" in each}


def shown(result: dict[str, object]) -> list[tuple[str, str, str]]:
    found: list[dict[str, str]] = result["silent"]  # type: ignore[assignment]
    return [(each["kind"], each["function"], each["attribute"]) for each in found]


@pytest.mark.slow
def test_what_does_not_move_and_what_stays_on_the_host(pytester: pytest.Pytester) -> None:
    told = results(pytester)
    assert {each["result"] for each in told.values()} == {"passed"}
    assert {name: shown(each) for name, each in told.items() if each["silent"]} == {
        "number": [("not-moved", "Net.__init__", "Net.temperature")],
        "index": [("not-moved", "Net.__init__", "Net.order")],
        "list": [("not-moved", "Net.__init__", "Net.heads")],
        "method": [("not-moved", "Net.__init__", "Net.tables")],
        "result": [("result-on-host", "clamped", "")],
        "result_as_an_array": [("result-on-host", "clamped", "")],
    }
    found = told["result"]["silent"][0]  # type: ignore[index]
    lines = LIBRARY.strip().splitlines()
    assert lines[found["line"] - 1].endswith("torch.tensor(1.0)") and found["call"] == "clamped"
    assert lines[found["entered"]["line"] - 1] == "def clamped(x):"


@pytest.mark.slow
def test_a_cache_serves_another_device(pytester: pytest.Pytester) -> None:
    told = results(pytester, "--gpus", "2", "--lift-twice")
    of_caches = {name: found for name, each in told.items() for found in shown(each) if found[0] == "stale-cache"}
    assert of_caches == {"cache": ("stale-cache", "by_size", "")}
    assert shown(told["given_to_a_module"]) == [("not-moved", "Weighted.__init__", "Weighted.weight")]
    failed = {name: served["function"] for name, each in told.items() if (served := each.get("served"))}  # type: ignore[index]
    assert failed == {"cache_in_the_library": "by_size", "cache_of_a_module": "Rotary.forward"}
    assert told["module_that_test_code_keeps"]["result"] == "artefact"
    assert {each["result"] for each in told.values()} == {"passed", "finding", "artefact"}


@pytest.mark.slow
def test_a_strict_run_fails_by_what_is_silent(pytester: pytest.Pytester) -> None:
    told = results(pytester, "--lift-strict")
    assert {name for name, each in told.items() if each["result"] != "passed"} == {
        *("number", "index", "list", "method", "result", "result_as_an_array")
    }


@pytest.mark.slow
def test_a_strict_failure_names_the_tensor_that_the_module_keeps(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(
        pool="""
        import torch
        class Pool(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.gates = {"a": torch.nn.Linear(4, 4)}
            def penalty(self):
                return sum(gate.weight.abs().sum() for gate in self.gates.values())
        """,
        test_pool="from pool import Pool\ndef test_pool():\n    pool = Pool()\n    assert pool.penalty() > 0\n",
    )
    done = run(pytester, "--lift", "--world", "simulated", "--lift-strict")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(['*pool.gates?"a"?.weight*cpu*parameter of a module*'])


@pytest.mark.slow
def test_a_strict_run_fails_by_one_place(pytester: pytest.Pytester) -> None:
    line = next(at for at, text in enumerate(LIBRARY.strip().splitlines(), 1) if "self.heads = " in text)
    told = results(pytester, f"--lift-strict-at=library.py:{line}", "--lift-strict-at=library.py:clamped")
    assert {name for name, each in told.items() if each["result"] != "passed"} == {
        "list",
        "result",
        "result_as_an_array",
    }


@pytest.mark.slow
def test_scripts_run_as_tests(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library="import torch\ndef shifted(x):\n    return x + torch.ones(len(x))\n")
    folder = pytester.mkdir("examples")
    for name, text in {
        "fails": "import torch\nfrom library import shifted\nshifted(torch.ones(3))\n",
        "passes": "import parts, sys, torch\nassert parts.x.is_cuda and len(sys.argv) == 1\nsys.exit(0)\n",
        "asks": "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('x')\nparser.parse_args()\n",
        "parts": "import torch\nx = torch.ones(1)\n",
        "guarded": "if __name__ == '__main__':\n    raise SystemExit('no')\n",
    }.items():
        folder.joinpath(f"{name}.py").write_text(text)
    names = [f"examples/{name}.py" for name in ("fails", "passes", "asks", "guarded")]
    record = pytester.mkdir("record")
    done = run(pytester, "--lift", "--world", "simulated", "--lift-record", str(record), "--lift-scripts", *names)
    done.assert_outcomes(passed=1, failed=3)
    told = [json.loads(line) for line in record.joinpath("results.jsonl").read_text().splitlines()]
    came = {each["test"]: each for each in told if "result" in each}
    assert [each["result"] for each in came.values()] == ["finding", "passed", "other", "other"]
    assert came["examples/fails.py::script"]["at"] == "library.py:3"
    assert "exit code 2" in came["examples/asks.py::script"]["reason"]
