import torch
from torch_audiomentations import LowPassFilter

device = "cuda" if torch.cuda.is_available() else "cpu"
augment = LowPassFilter(min_cutoff_freq=4000, max_cutoff_freq=4000, p=1.0, output_type="dict").to(device)
audio = torch.randn(2, 1, 16000, device=device)
print(augment(audio, sample_rate=16000).samples.shape)
