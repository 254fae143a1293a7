import torch


class Vocabulary:
    """Word counts, and how rare each word is."""

    def __init__(self, documents: torch.Tensor):
        self.inverse = torch.log(len(documents) / (documents > 0).sum(dim=0))

    def weigh(self, counts: torch.Tensor) -> torch.Tensor:
        """Counts (n, words) weighed by rarity."""
        weighted = counts * self.inverse
        return weighted / weighted.norm(dim=1, keepdim=True)
