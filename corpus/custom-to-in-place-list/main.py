import torch

from graph import Graph

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
nodes = torch.arange(6, dtype=torch.float32).view(3, 2)
edges = [torch.tensor([[0, 1], [1, 2]]), torch.tensor([[2], [0]])]
graph = Graph(nodes, edges).to(device)
print(graph.spread().tolist())
