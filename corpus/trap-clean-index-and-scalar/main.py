import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
values = torch.arange(6, dtype=torch.float32, device=device)
picked = values[torch.tensor([5, 0, 3])]
shifted = picked + torch.tensor(0.5)
host = torch.empty(3)
host.copy_(shifted)
values[:3] = torch.tensor([9.0, 8.0, 7.0])
scaled = torch.where(values > 7, values, torch.tensor(0.0))
print(host.tolist(), values.tolist(), scaled.sum().item())
