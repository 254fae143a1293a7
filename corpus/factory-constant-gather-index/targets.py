import torch


def select(scores: torch.Tensor, targets: list[int] | int) -> torch.Tensor:
    """The score of each row's target."""
    if isinstance(targets, int):
        return scores[:, targets]
    return scores.gather(1, torch.tensor(targets).reshape(-1, 1)).squeeze(1)
