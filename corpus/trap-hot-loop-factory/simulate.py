import torch


def step(state, offsets):
    """One step of the system."""
    return 0.9 * state + offsets


def simulate(start, steps):
    state = start
    offsets = torch.tensor([0.1, -0.2, 0.3])
    for _ in range(steps):
        state = step(state, offsets)
    return state


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
start = torch.tensor([1.0, 2.0, 3.0], device=device)
print([round(value, 4) for value in simulate(start, 50).tolist()])
