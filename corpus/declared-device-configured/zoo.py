"""A small stand-in for a hub that puts what it loads on the first GPU."""
import torch
from torch import nn


def fetch(width):
    torch.manual_seed(0)
    backbone = nn.Linear(width, width)
    return backbone.to("cuda:0") if torch.cuda.is_available() else backbone
