import torch
from torch import nn


def make_network(width):
    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3))


def train(device):
    student = make_network(4).to(device)
    teacher = make_network(16)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for step in range(3):
        rows = torch.linspace(-1, 1, 20, device=device).view(5, 4) * (step + 1)
        with torch.no_grad():
            wanted = teacher(rows).softmax(dim=1)
        loss = nn.functional.kl_div(student(rows).log_softmax(dim=1), wanted, reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{step} {loss.item():.5f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train("cuda" if torch.cuda.is_available() else "cpu")
