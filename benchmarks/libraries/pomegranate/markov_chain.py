import torch
from pomegranate.markov_chain import MarkovChain

device = "cuda" if torch.cuda.is_available() else "cpu"
chain = MarkovChain(k=1).to(device)
chain.fit(torch.randint(0, 2, (20, 4, 1), device=device))
print(chain.distributions[1].probs[0].sum(dim=1) + torch.zeros(2, device=device))
