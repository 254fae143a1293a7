import torch
from asteroid_filterbanks import STFTFB, Encoder, transforms
from asteroid_filterbanks.griffin_lim import misi

device = "cuda" if torch.cuda.is_available() else "cpu"
stft = Encoder(STFTFB(n_filters=256, kernel_size=256, stride=128)).to(device)
sources = torch.randn(2, 3, 8000, device=device)
print(misi(sources.sum(1), transforms.mag(stft(sources), -2), stft, n_iter=4).shape)
