import torch
from torch_geometric.data import Data
from torch_geometric.transforms import NodePropertySplit

device = "cuda" if torch.cuda.is_available() else "cpu"
edges = torch.combinations(torch.arange(20)).t()[:, ::3]
data = Data(x=torch.randn(20, 8), y=torch.randint(4, (20,)), edge_index=edges).to(device)
data = NodePropertySplit("popularity", [0.3, 0.1, 0.1, 0.3, 0.2])(data)
print((data.id_train_mask & (data.y < 3)).sum())
