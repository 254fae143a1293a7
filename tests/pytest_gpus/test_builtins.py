"""What a world puts in place of built-in functions has their manners: no class binds it, and it is pickled by name."""

from __future__ import annotations

import pytest
from suite_runs import run

pytestmark = pytest.mark.slow


def test_functions_of_torch_in_a_class_and_in_a_pickle(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import copy, pickle
        import pytest, torch
        import torch._dynamo  # which has a look at what stands in for functions

        class Loss(torch.nn.Module):
            convolve = torch.conv2d
            make = torch.tensor

        def test_bound_by_no_class():
            x = torch.ones(1, 1, 3, 3, device="cuda")
            assert Loss().convolve(x, Loss().make([[[[2.0]]]], device="cuda")).sum().item() == 18

        @pytest.mark.parametrize("name", ["conv2d", "tensor", "zeros", "from_numpy"])
        def test_known_by_name(name):
            function = getattr(torch, name)
            assert copy.deepcopy(function) is pickle.loads(pickle.dumps(function)) is function
        """
    )
    run(pytester, "--gpus", "1", "--world", "simulated").assert_outcomes(passed=5)


def test_scalars_on_the_host_among_the_data_of_a_constructor(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import torch

        pi = torch.tensor(3.0, dtype=torch.float64)

        def test_values():
            for device in ("cpu", "cuda"):
                assert torch.tensor([-pi, pi], device=device).tolist() == [-3, 3]
                assert torch.tensor([pi.cuda(), pi], device=device).tolist() == [3, 3]

        def test_types():
            for device in ("cpu", "cuda"):
                assert torch.tensor([pi, 1], device=device).dtype is torch.float64
                assert torch.tensor([[pi.half(), 1]], device=device).dtype is torch.float16
                assert torch.tensor([pi.half(), 1.0], device=device).dtype is torch.float32
                assert torch.as_tensor([pi, pi], dtype=torch.float32, device=device).dtype is torch.float32

        def test_a_tensor_itself():
            assert torch.as_tensor(pi) is pi
            assert torch.tensor(pi, device="cuda").dtype is torch.float64
        """
    )
    run(pytester, "--gpus", "1", "--world", "simulated").assert_outcomes(passed=3)
