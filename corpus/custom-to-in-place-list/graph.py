import torch


class Graph:
    """Nodes (n, width) and, for each kind of edge, (2, edges) node numbers."""

    def __init__(self, nodes: torch.Tensor, edges: list[torch.Tensor]):
        self.nodes = nodes
        self.edges = edges

    def to(self, device):
        self.nodes = self.nodes.to(device)
        return self

    def spread(self) -> torch.Tensor:
        """The sum of what each node's neighbours hold."""
        out = torch.zeros_like(self.nodes)
        for source, target in self.edges:
            out.index_add_(0, target, self.nodes[source])
        return out
