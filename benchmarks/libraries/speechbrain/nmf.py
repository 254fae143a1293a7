import torch
from speechbrain.processing.NMF import NMF_separate_spectra

device = "cuda" if torch.cuda.is_available() else "cpu"
bases = [torch.rand(11, 10, device=device), torch.rand(11, 10, device=device)]
mixture = torch.rand(4, 40, 11, device=device)
print(NMF_separate_spectra(bases, mixture)[0].shape)
