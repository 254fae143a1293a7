import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCN
from torch_geometric.utils import total_influence

device = "cuda" if torch.cuda.is_available() else "cpu"
model = GCN(8, 16, 2).to(device).eval()
edge_index = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
data = Data(x=torch.randn(6, 8), edge_index=edge_index).to(device)
print(total_influence(model, data, max_hops=2, num_samples=2))
