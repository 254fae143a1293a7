import torch
from torch_geometric.data import Data
from torch_geometric.utils import train_test_split_edges

device = "cuda" if torch.cuda.is_available() else "cpu"
edges = torch.combinations(torch.arange(20)).t()[:, ::3]
edges = torch.cat([edges, edges.flip(0)], dim=1)
data = train_test_split_edges(Data(x=torch.randn(20, 8), edge_index=edges).to(device))
print(torch.cat([data.val_pos_edge_index, data.val_neg_edge_index], dim=1))
