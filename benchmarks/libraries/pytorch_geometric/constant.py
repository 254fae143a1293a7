import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.transforms import Constant

device = "cuda" if torch.cuda.is_available() else "cpu"
edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
data = Constant()(Data(edge_index=edges, num_nodes=3).to(device))
print(GCNConv(1, 4).to(device)(data.x, data.edge_index))
