import torch
from torch_geometric.data import Data
from torch_geometric.transforms import RandomNodeSplit

device = "cuda" if torch.cuda.is_available() else "cpu"
data = Data(x=torch.randn(100, 8), y=torch.randint(4, (100,))).to(device)
print(RandomNodeSplit(split="random", num_train_per_class=5, num_val=20, num_test=20)(data))
