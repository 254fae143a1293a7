import torch
from norse.torch import SpikesToTimesDecoder

device = "cuda" if torch.cuda.is_available() else "cpu"
decoder = SpikesToTimesDecoder(spike_count=1).to(device)
spikes = (torch.rand(20, 4, 5, device=device) < 0.3).float()
print(decoder(spikes))
