import torch
from torch_geometric.data import Data
from torch_geometric.transforms import AddLaplacianEigenvectorPE

device = "cuda" if torch.cuda.is_available() else "cpu"
edges = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
data = AddLaplacianEigenvectorPE(k=2)(Data(x=torch.randn(4, 8), edge_index=edges).to(device))
print(torch.cat([data.x, data.laplacian_eigenvector_pe], dim=-1))
