import torch
from pomegranate.distributions import Bernoulli

device = "cuda" if torch.cuda.is_available() else "cpu"
print(Bernoulli([0.2, 0.7]).to(device).log_probability([[0, 1], [1, 1]]))
