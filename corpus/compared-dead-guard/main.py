import torch

from sampler import Encoder, Sampler

torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
sampler = Sampler(Encoder(), device)
for ids in ([[1, 2, 3]], [[4, 5]]):
    print(round(sampler.encode(torch.tensor(ids)).sum().item(), 5))
