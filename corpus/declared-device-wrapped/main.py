import torch

from encoders import Reranker, RuntimeEncoder
from engine import Runtime

count = torch.cuda.device_count() if torch.cuda.is_available() else 0
device = torch.device("cuda", count - 1) if count else torch.device("cpu")
reranker = Reranker(RuntimeEncoder(Runtime(labels=3, width=4), device), [0.5, 1.0, 2.0])
print([round(value, 4) for value in reranker.rank(torch.ones(2, 4)).tolist()])
