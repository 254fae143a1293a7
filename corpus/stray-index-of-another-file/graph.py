import torch

from masks import to_mask


class Graph:
    def __init__(self, x, edges):
        self.x, self.edges = x, edges

    def subgraph(self, subset):
        mask = to_mask(subset, self.x.shape[0])
        keep = mask[self.edges[0]] & mask[self.edges[1]]
        return Graph(self.x[mask], self.edges[:, keep])
