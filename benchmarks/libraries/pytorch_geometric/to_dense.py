import torch
from torch_geometric.data import Data
from torch_geometric.nn import DenseGCNConv
from torch_geometric.transforms import ToDense

device = "cuda" if torch.cuda.is_available() else "cpu"
edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
data = ToDense(num_nodes=5)(Data(x=torch.randn(3, 8), edge_index=edges, edge_attr=torch.ones(3)).to(device))
conv = DenseGCNConv(8, 4).to(device)
print(conv(data.x.unsqueeze(0), data.adj.unsqueeze(0), data.mask.unsqueeze(0)))
