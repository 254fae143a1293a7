import torch
from asteroid_filterbanks import STFTFB, Encoder, transforms
from asteroid_filterbanks.griffin_lim import griffin_lim

device = "cuda" if torch.cuda.is_available() else "cpu"
stft = Encoder(STFTFB(n_filters=256, kernel_size=256, stride=128)).to(device)
spectrogram = stft(torch.randn(2, 1, 8000, device=device))
print(griffin_lim(transforms.mag(spectrogram, -2), stft, n_iter=4).shape)
