import torch
from torch_geometric.data import HeteroData
from torch_geometric.transforms import AddRandomMetaPaths

device = "cuda" if torch.cuda.is_available() else "cpu"
data = HeteroData()
data["paper"].x, data["author"].x = torch.ones(4, 3), torch.ones(5, 3)
edges = torch.tensor([[0, 1, 2, 3, 0], [0, 1, 2, 3, 4]])
data["paper", "author"].edge_index, data["author", "paper"].edge_index = edges, edges.flip([0])
print(AddRandomMetaPaths([[("paper", "author"), ("author", "paper")]])(data.to(device)))
