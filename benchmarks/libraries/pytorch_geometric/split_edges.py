import torch
from torch_geometric.data import Data
from torch_geometric.utils import train_test_split_edges

device = "cuda" if torch.cuda.is_available() else "cpu"
data = Data(x=torch.randn(20, 8), edge_index=torch.randint(0, 20, (2, 60)), num_nodes=20).to(device)
print(train_test_split_edges(data))
