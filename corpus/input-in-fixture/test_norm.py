import pytest
import torch

from norm import Norm

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@pytest.fixture
def rows():
    return torch.linspace(1, 2, 8).view(2, 4)


def test_keeps_the_shape():
    norm = Norm(4).to(DEVICE)
    assert norm(torch.ones(3, 4, device=DEVICE)).shape == (3, 4)


def test_root_mean_square_is_one(rows):
    norm = Norm(4).to(DEVICE)
    out = norm(rows)
    assert torch.allclose(out.square().mean(dim=-1), torch.ones(2, device=DEVICE))
