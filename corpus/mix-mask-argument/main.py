import torch

from pooling import max_pool

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
embedding = torch.nn.Embedding(10, 3).to(device)
ids = torch.tensor([[1, 2, 3], [4, 5, 0]], device=device)
mask = torch.tensor([[True, True, True], [True, True, False]])
with torch.no_grad():
    print([round(value, 4) for value in max_pool(embedding(ids), mask).flatten().tolist()])
