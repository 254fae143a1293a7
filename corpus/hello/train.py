"""Train the classifier on a task that is made up: does a sequence hold more small tokens than large ones?"""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from model import Classifier

VOCABULARY = 20


def make_data(count: int, length: int) -> TensorDataset:
    """Return (count, length) token ids with their (count,) answers."""
    ids = torch.randint(0, VOCABULARY, (count, length))
    answers = ((ids < VOCABULARY // 2).sum(dim=1) > length // 2).long()
    return TensorDataset(ids, answers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=4)
    epochs = parser.parse_args().epochs

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(make_data(count=128, length=9), batch_size=32)

    model = Classifier(VOCABULARY, classes=2).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(1, epochs + 1):
        total = 0.0
        for ids, answers in loader:
            scores = model(ids)
            loss = criterion(scores, answers.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
