import torch
from torch import nn


class Reservoir(nn.Module):
    def __init__(self, inputs, size):
        super().__init__()
        self.entry = torch.rand(inputs, size) - 0.5
        weights = torch.rand(size, size) - 0.5
        weights *= 0.9 / torch.linalg.matrix_norm(weights, 2)
        self.weights = weights
        self.readout = nn.Linear(size, 1)

    def forward(self, inputs):
        state = torch.zeros(inputs.shape[0], self.weights.shape[0])
        for step in range(inputs.shape[1]):
            driven = torch.tanh(inputs[:, step] @ self.entry + state @ self.weights)
            state = 0.7 * state + 0.3 * driven
        return self.readout(state)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Reservoir(2, 6).to(device)
inputs = torch.ones(3, 5, 2, device=device)
print(f"{model(inputs).sum().item():.3f}")
