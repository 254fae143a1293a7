import torch

first = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
second = torch.device("cuda:1") if torch.cuda.device_count() > 1 else first
try:
    torch.ones(1, device="cuda:1")
    spare = True
except (RuntimeError, AssertionError):
    spare = False
head, tail = torch.nn.Linear(4, 4).to(first), torch.nn.Linear(4, 1).to(second)
print(tuple(tail(head(torch.ones(2, 4, device=first)).to(second)).shape), spare is (second != first))
