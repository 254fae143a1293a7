"""Suites that choose their device themselves: by PyTorch's own test classes, an option, or an environment variable."""

from __future__ import annotations

import pytest
from suite_runs import run

pytestmark = pytest.mark.slow


def test_device_types_of_pytorch(pytester: pytest.Pytester) -> None:
    pytest.importorskip("expecttest")
    pytester.makepyfile(
        """
        import torch
        from torch.testing._internal.common_device_type import deviceCountAtLeast, dtypes, onlyCUDA
        from torch.testing._internal.common_device_type import instantiate_device_type_tests
        from torch.testing._internal.common_utils import TestCase

        class TestSum(TestCase):
            def test_sum(self, device):
                made = torch.ones(3, device=device)
                self.assertEqual(made.sum().item(), 3)
                self.assertEqual(made.device, torch.device(device))

            @onlyCUDA
            @dtypes(torch.float32, torch.float64)
            def test_only(self, device, dtype):
                x = torch.randn(4, device=device, dtype=dtype)
                self.assertEqual(x + x, 2 * x)

            @deviceCountAtLeast(2)
            @onlyCUDA
            def test_two(self, devices):
                self.assertEqual([torch.ones(1, device=device).device.index for device in devices], [0, 1])

        instantiate_device_type_tests(TestSum, globals())
        """
    )
    done = run(pytester, "--gpus", "2", "--world", "simulated", "-rA")
    done.assert_outcomes(passed=5, skipped=3)
    assert "PASSED test_device_types_of_pytorch.py::TestSumCUDA::test_two_cuda" in str(done.stdout)


def test_an_option_and_an_environment_variable(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makeconftest(
        """
        import os
        import pytest, torch

        DEVICES = {"cpu": torch.device("cpu")}
        if torch.cuda.is_available():
            DEVICES["cuda"] = torch.device("cuda:0")

        def pytest_addoption(parser):
            parser.addoption("--device", default=os.environ.get("TEST_DEVICE", "cpu"))

        def pytest_generate_tests(metafunc):
            if "device" in metafunc.fixturenames:
                metafunc.parametrize("device", [DEVICES[metafunc.config.getoption("--device")]])
        """
    )
    pytester.makepyfile("import torch\ndef test_it(device):\n    assert torch.ones(1, device=device).is_cuda")
    run(pytester, "--gpus", "1", "--world", "simulated", "--device", "cuda").assert_outcomes(passed=1)
    run(pytester, "--gpus", "1", "--world", "simulated").assert_outcomes(failed=1)
    monkeypatch.setenv("TEST_DEVICE", "cuda")
    run(pytester, "--gpus", "1", "--world", "simulated").assert_outcomes(passed=1)


def test_a_default_device_that_a_plugin_set_before_there_was_a_gpu(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(early="import torch\ntorch.set_default_device('cuda')\n")
    pytester.makepyfile(
        """
        import pytest, torch

        @pytest.mark.parametrize("made", [torch.tensor([True, False])])
        def test_made(made):
            assert made.is_cuda and torch.rand(2).device == made.device
        """
    )
    run(pytester, "-p", "early", "--gpus", "1", "--world", "simulated").assert_outcomes(passed=1)
