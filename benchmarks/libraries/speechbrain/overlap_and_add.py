import torch
from speechbrain.processing.signal_processing import overlap_and_add

device = f"cuda:{torch.cuda.device_count() - 1}" if torch.cuda.is_available() else "cpu"
print(overlap_and_add(torch.randn(5, 20, device=device), 10))
