import torch
from pomegranate.distributions import JointCategorical

device = "cuda" if torch.cuda.is_available() else "cpu"
print(JointCategorical([[0.1, 0.2], [0.3, 0.4]]).to(device).sample(5))
