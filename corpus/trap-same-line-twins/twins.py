import torch


def summarise(rows, device):
    """The sum of rows on the device, and how often each column was positive, counted on the host."""
    total, seen = torch.zeros(3), torch.zeros(3)
    for row in rows:
        total += row
        seen += (row > 0).cpu()
    return total, seen.numpy()


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
rows = [torch.tensor([1.0, -1.0, 2.0], device=device) * sign for sign in (1, -1, 2)]
total, seen = summarise(rows, device)
print(total.tolist(), seen.tolist())
