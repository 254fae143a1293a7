import torch
from pomegranate.distributions import ConditionalCategorical

device = "cuda" if torch.cuda.is_available() else "cpu"
distribution = ConditionalCategorical([[[0.2, 0.8], [0.6, 0.4]]], inertia=0.5).to(device)
distribution.fit([[[0], [1]], [[1], [1]], [[0], [0]]])
print(distribution.probs[0])
