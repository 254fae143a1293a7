import torch
from pomegranate.distributions import JointCategorical

device = "cuda" if torch.cuda.is_available() else "cpu"
distribution = JointCategorical([[0.1, 0.2], [0.3, 0.4]]).to(device)
logps = distribution.log_probability([[0, 1], [1, 1], [0, 0]])
print(logps + torch.rand(3, device=device))
