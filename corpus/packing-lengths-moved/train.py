import torch

from reader import Reader


def to_device(batch, device):
    return {name: tensor.to(device) for name, tensor in batch.items()}


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Reader(3).to(device)
batch = {"values": torch.linspace(0, 1, 8).view(2, 4, 1), "lengths": torch.tensor([4, 2])}
hidden = model(**to_device(batch, device))
print([round(value, 4) for value in hidden.sum(dim=0).tolist()])
