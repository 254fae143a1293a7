import torch
from torch import nn


def evaluate(model, rows):
    model = model.cuda()
    with torch.no_grad():
        return model(rows.cuda()).mean().item()


if __name__ == "__main__":
    torch.manual_seed(2)
    print(f"{evaluate(nn.Linear(4, 2), torch.ones(3, 4)):.4f}")
