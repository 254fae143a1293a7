import torch
from pomegranate.distributions import Categorical

device = "cuda" if torch.cuda.is_available() else "cpu"
distribution = Categorical([[0.5, 0.5], [0.1, 0.9]]).to(device)
distribution.fit(torch.randint(0, 2, (20, 2), device=device))
print(distribution.probs)
