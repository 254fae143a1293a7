"""Train a small classifier with accelerate, and evaluate it after each epoch."""

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Classifier(nn.Module):
    def __init__(self, width=16, classes=3):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, classes))

    def forward(self, features):
        return self.layers(features)


def get_dataloaders(batch_size):
    features = torch.randn(48, 8)
    labels = (features.sum(dim=1) > 0).long()
    train, valid = random_split(TensorDataset(features, labels), [32, 16])
    return DataLoader(train, batch_size=batch_size, shuffle=True), DataLoader(valid, batch_size=batch_size)


def evaluate(accelerator, model, dataloader):
    model.eval()
    correct = total = 0
    for features, labels in dataloader:
        with torch.no_grad():
            predictions = model(features).argmax(dim=-1)
        predictions, labels = accelerator.gather_for_metrics((predictions, labels))
        correct += (predictions == labels).sum().item()
        total += labels.numel()
    return correct / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()

    set_seed(42)
    accelerator = Accelerator()
    train_dataloader, eval_dataloader = get_dataloaders(8)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer, train_dataloader = accelerator.prepare(model, optimizer, train_dataloader)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        model.train()
        for features, labels in train_dataloader:
            loss = criterion(model(features), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        accuracy = evaluate(accelerator, model, eval_dataloader)
        accelerator.print(f"epoch {epoch}: accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
