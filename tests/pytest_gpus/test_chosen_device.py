"""`pytest --lift`: suites that hand a device to their tests, the CPU by default, hand them the GPU."""

from __future__ import annotations

import pytest
from suite_runs import run

LIBRARY = """
import torch

def shifted(x):
    return x + torch.ones(len(x))
"""

TESTS = """
import unittest
import pytest, torch
from library import shifted

@pytest.fixture(scope="session")
def device():
    return torch.device("cpu")

@pytest.fixture
def ones(device):
    return torch.ones(3, device=device)

TEST_DEVICE = "cpu"
CPU = torch.device("cpu")

class Base(unittest.TestCase):
    device = torch.device("cpu")
    tkwargs = {"device": torch.device("cpu"), "dtype": torch.float64}

class TestOfUnittest(Base):
    def setUp(self):
        self.torch_device = "cpu"
        self.x = torch.ones(1, device=self.torch_device)

    def test_attribute(self):
        assert torch.ones(1, device=self.device).device == torch.device("cuda:{gpu}")

    def test_attribute_of_set_up(self):
        assert self.x.device == torch.device("cuda:{gpu}")

    def test_options(self):
        assert torch.ones(1, **self.tkwargs).device == torch.device("cuda:{gpu}")
        assert Base.tkwargs["dtype"] == torch.float64

def test_global():
    assert TEST_DEVICE == "cuda:{gpu}" and CPU.type == "cpu"

def test_fixture(device, ones):
    assert device == ones.device == torch.device("cuda:{gpu}")

@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_parameter(device):
    assert device in ("cuda:{gpu}", "meta")

@pytest.mark.parametrize("other_device", ["cpu"])
def test_other_names(other_device):
    assert other_device == "cpu"

def test_finding(ones):
    shifted(ones)
"""


@pytest.mark.slow
@pytest.mark.parametrize("gpus", [1, 2])
def test_tests_that_are_given_a_device_are_given_the_gpu(pytester: pytest.Pytester, gpus: int) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(library=LIBRARY, test_given=TESTS.replace("{gpu}", str(gpus - 1)))
    output = run(pytester, "--lift", "--gpus", str(gpus), "--world", "simulated")
    assert "8 passed, 1 ended in a finding, 0 in an artefact" in output.stdout.str(), output.stdout.str()
    output.stdout.fnmatch_lines(["To repair it: devfix repair --run 'pytest --lift *'*", "*library.py:4*test_finding*"])


@pytest.mark.slow
def test_without_a_lift_they_are_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_given="import pytest\n@pytest.mark.parametrize('device', ['cpu'])\ndef test_it(device):\n"
        "    assert device == 'cpu'\n"
    )
    run(pytester).assert_outcomes(passed=1)


@pytest.mark.slow
def test_the_name_of_a_gpu_that_the_suite_lists_is_taken(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest, torch\n"
        "@pytest.mark.parametrize('size, device', [(1, 'cpu'), pytest.param(2, 'cuda')])\n"
        "def test_type(size, device):\n"
        "    assert torch.ones(size, device=device).device.type == device\n"
        "@pytest.mark.parametrize('device', ['cpu'])\n"
        "def test_device(device):\n"
        "    assert torch.ones(1, device=device).device == torch.device(device)\n"
    )
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=3)


@pytest.mark.slow
def test_a_device_that_helpers_bind_as_they_are_imported_is_the_gpu(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        library=LIBRARY,
        **{
            "tests/settings": "import torch\nDEVICE = torch.device('cpu')\n",
            "tests/tensors": "from functools import partial\nimport torch\nfrom settings import DEVICE\n"
            "ones_ = partial(torch.ones, device=DEVICE)\n",
            "tests/test_given": "from library import shifted\nfrom tensors import ones_\nONES = ones_(3)\n"
            "def test_finding():\n    shifted(ones_(2))\ndef test_global():\n    assert ONES.is_cuda\n",
        },
    )
    pytester.makeini("[pytest]\npythonpath = . tests\n")
    output = run(pytester, "--lift", "--world", "simulated", "tests")
    assert "1 passed, 1 ended in a finding, 0 in an artefact" in output.stdout.str(), output.stdout.str()


@pytest.mark.slow
def test_the_device_of_a_case_is_chosen(pytester: pytest.Pytester) -> None:
    """A dictionary among a suite's parameters has it; a fixture of a module is still made once for each."""
    pytester.makepyfile(
        """
        import pytest, torch

        CASES = [{"seed": 0, "device": torch.device("cpu")}, {"seed": 1, "device": "cpu"}]
        made = []

        @pytest.fixture(params=CASES, scope="module")
        def case(request):
            made.append(request.param["seed"])
            return {"x": torch.ones(2).to(request.param["device"]), "device": str(request.param["device"])}

        def test_fixture(case):
            assert case["x"].is_cuda and case["device"] == "cuda:0"

        def test_is_made_once(case):
            assert len(made) == made[-1] + 1

        @pytest.mark.parametrize("case", CASES)
        def test_parameter(case):
            assert str(case["device"]) == "cuda:0" and CASES[0]["device"].type == "cpu"
        """
    )
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=6)
