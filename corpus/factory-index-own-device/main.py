import torch

from bank import MemoryBank

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
bank = MemoryBank(4, 2, device)
for start in range(3):
    bank.add(torch.full((3, 2), float(start)))
print(bank.keys.sum().item(), bank.steps.tolist())
