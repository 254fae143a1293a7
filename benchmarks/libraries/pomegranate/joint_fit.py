import torch
from pomegranate.distributions import JointCategorical

device = "cuda" if torch.cuda.is_available() else "cpu"
distribution = JointCategorical([[0.1, 0.2], [0.3, 0.4]], inertia=0.5).to(device)
distribution.fit([[0, 1], [1, 1], [0, 0]])
print(distribution.probs)
