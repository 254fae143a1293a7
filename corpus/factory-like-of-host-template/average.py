import torch


def mean_state(template: torch.Tensor, states: list[torch.Tensor]) -> torch.Tensor:
    """The mean of states that have the shape of a template."""
    total = torch.zeros_like(template)
    for state in states:
        total = total + state / len(states)
    return total
