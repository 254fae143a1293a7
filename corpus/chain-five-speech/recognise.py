import torch
from torch.nn import functional as F

from frontend import energies
from network import Recogniser


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Recogniser(4, 5, 3).to(device)
    signal = torch.sin(torch.arange(24, device=device).float()).view(2, 12)
    lengths = torch.tensor([3, 2], device=device)
    target = torch.tensor([2, 0])
    scores = model(energies(signal, 4), lengths)
    loss = F.cross_entropy(scores, target)
    loss.backward()
    print("loss", round(loss.item(), 5))
    print("scores", scores.detach().numpy().round(4).tolist())


if __name__ == "__main__":
    main()
