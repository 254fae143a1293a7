import torch
from torch.nn import functional as F


def train(model, loader, optimizer, device):
    """One epoch."""
    model.train()
    for inputs, labels in loader:
        inputs, labels = inputs.to(device), labels.to(device)
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model, loader, device):
    """The share of right answers."""
    model.eval()
    correct = 0
    for inputs, labels in loader:  # evaluation
        predicted = model(inputs).argmax(dim=1)
        correct += (predicted == labels).sum().item()
    return correct / len(loader.dataset)
