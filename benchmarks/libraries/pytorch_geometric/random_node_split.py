import torch
from torch_geometric.data import Data
from torch_geometric.transforms import RandomNodeSplit

device = "cuda" if torch.cuda.is_available() else "cpu"
data = Data(x=torch.randn(100, 8), y=torch.randint(4, (100,))).to(device)
data = RandomNodeSplit(split="random", num_train_per_class=5, num_val=20, num_test=20)(data)
known = data.train_mask & (data.y < 3)
print(known.sum(), (data.val_mask & (data.y < 3)).sum(), (data.test_mask & (data.y < 3)).sum())
