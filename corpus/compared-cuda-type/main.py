import torch

from lookup import Lookup

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
lookup = Lookup(torch.arange(12, dtype=torch.float32).view(4, 3))
for ids in ([0, 2], [3]):
    print(lookup(torch.tensor(ids, device=device)).sum().item())
