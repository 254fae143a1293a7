"""What a world puts in place of built-in functions has their manners: no class binds it, and it is pickled by name."""

from __future__ import annotations

import pytest
from suite_runs import run


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
