"""Between two tests of a suite the world is as new, but for what longer-lived fixtures have set."""

from __future__ import annotations

import pytest
from suite_runs import run

pytestmark = pytest.mark.slow


def test_what_a_test_leaves_is_gone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        import pytest, torch

        pool = ThreadPoolExecutor(1)
        first = []

        @pytest.mark.parametrize("turn", range(3))
        def test_it(turn):
            assert torch.cuda.current_device() == 0
            assert pool.submit(torch.cuda.current_device).result() == 0
            assert torch.get_default_dtype() is torch.float32
            assert torch.ones(1).device == torch.device("cpu")
            assert torch.cuda.memory_allocated(1) == torch.cuda.max_memory_allocated(1) == 0
            drawn = [torch.rand(3, device="cuda:0").tolist(), torch.rand(3, device="cuda:1").tolist()]
            first.append(drawn)
            assert drawn == first[0]
            torch.cuda.set_device(1)
            pool.submit(torch.cuda.set_device, 1).result()
            torch.set_default_dtype(torch.float64)
            torch.set_default_device("cuda")
            here = torch.zeros(1 << 20, device="cuda:1")
            here.itself = [here]
            assert torch.cuda.max_memory_allocated(1) >= 1 << 20
            torch.cuda.manual_seed_all(turn)
            assert turn == 0, "a failure changes nothing of that"
        """
    )
    done = run(pytester, "--gpus", "2", "--world", "simulated", "--tb=short")
    done.assert_outcomes(passed=1, failed=2)
    assert str(done.stdout).count("E   AssertionError: a failure changes nothing of that") == 2


def test_what_longer_lived_fixtures_set_stays(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import unittest
        import pytest, torch

        @pytest.fixture(scope="module", autouse=True)
        def double():
            torch.set_default_dtype(torch.float64)
            torch.cuda.set_device(1)
            yield

        @pytest.fixture(scope="module")
        def weights(gpu_devices):
            return torch.ones(2, device=gpu_devices[1])

        @pytest.mark.parametrize("turn", range(2))
        def test_module(weights, turn):
            assert torch.get_default_dtype() is torch.float64 and torch.cuda.current_device() == 1
            assert weights.sum().item() == 2
            weights.add_(0)
            torch.set_default_dtype(torch.float16)
            torch.cuda.set_device(0)

        class Unit(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                torch.set_default_device("cuda:0")

            def test_one(self):
                self.assertEqual(torch.ones(1).device, torch.device("cuda:0"))
                torch.set_default_device("cpu")

            def test_two(self):
                self.test_one()

        def test_afterwards():
            assert torch.ones(1).device == torch.device("cpu")
        """,
        test_other="""
        import torch

        def test_other_module():
            assert torch.get_default_dtype() is torch.float32 and torch.cuda.current_device() == 0
        """,
    )
    pytester.path.joinpath("test_other.py").rename(pytester.path / "test_zzz.py")
    run(pytester, "--gpus", "2", "--world", "simulated").assert_outcomes(passed=6)
