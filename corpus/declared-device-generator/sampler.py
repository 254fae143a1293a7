import torch


def beam_search(model, prompt: torch.Tensor, beams: int, steps: int) -> torch.Tensor:
    """Extend a prompt (1, length) by `steps` tokens; returns the beams (beams, length + steps), best first."""
    tokens = prompt.to(model.device).repeat(beams, 1)
    weights = torch.full((beams,), -1e9, device=model.device)
    weights[0] = 0.0
    for _ in range(steps):
        scores = torch.log_softmax(model(tokens), dim=-1)
        total = weights.unsqueeze(1) + scores
        weights, flat = total.flatten().topk(beams)
        ancestors = flat // scores.shape[-1]
        tokens = torch.index_select(tokens, 0, ancestors)
        tokens = torch.cat([tokens, (flat % scores.shape[-1]).unsqueeze(1)], dim=1)
    return tokens
