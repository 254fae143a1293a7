import torch

from graph import Graph
from split import part

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
graph = Graph(torch.arange(6.0).to(device), torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]]).to(device))
small = part(graph, [1, 2, 3])
print(small.x.sum().item(), small.edges.shape[1])
