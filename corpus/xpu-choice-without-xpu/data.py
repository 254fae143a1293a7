import torch

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load():
    for start in (0, 1):
        yield torch.arange(start, start + 6, dtype=torch.float32).reshape(2, 3).to(DEVICE)
