import torch


def causal_attention(query, key, value):
    """Attention in which each position sees itself and what came before; all (batch, length, width)."""
    length = query.shape[-2]
    scores = query @ key.mT / query.shape[-1] ** 0.5
    mask = torch.tril(torch.ones(length, length, dtype=torch.bool))
    scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value
