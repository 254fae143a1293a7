import numpy as np
import torch


def discounted(rewards, gamma):
    out = np.zeros(len(rewards))
    running = 0.0
    for step in reversed(range(len(rewards))):
        running = rewards[step] + gamma * running
        out[step] = running
    return out


def loss(log_probs, rewards, device):
    returns = torch.tensor(discounted(rewards, 0.5), device=device)
    return -(log_probs * returns).sum()


device = "mps" if torch.backends.mps.is_available() else "cpu"
log_probs = torch.full((3,), -1.0, device=device)
print(loss(log_probs, [1.0, 0.0, 4.0], device).item())
