import torch
from pomegranate.distributions import Bernoulli

device = "cuda" if torch.cuda.is_available() else "cpu"
distribution = Bernoulli([0.2, 0.7]).to(device)
distribution.summarize([[0.0, 1.0], [1.0, 1.0]])
distribution.from_summaries()
print(distribution.probs)
