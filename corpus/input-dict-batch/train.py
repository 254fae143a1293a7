import torch
from torch.utils.data import DataLoader

from model import MeanPool


def collate(rows):
    length = max(len(row) for row in rows)
    ids = torch.tensor([row + [0] * (length - len(row)) for row in rows])
    return {"ids": ids, "mask": ids != 0}


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MeanPool().to(device)
    loader = DataLoader([[1, 2, 3], [4], [5, 6], [7, 8, 9]], batch_size=2, collate_fn=collate)
    total = 0.0
    for batch in loader:
        ids = batch["ids"].to(device)
        mask = batch["mask"]
        pooled = model(ids, mask)
        total += pooled.sum().item()
    print(round(total, 5))


if __name__ == "__main__":
    main()
