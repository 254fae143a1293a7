import torch
from speechbrain.nnet.losses import cal_si_snr

device = f"cuda:{torch.cuda.device_count() - 1}" if torch.cuda.is_available() else "cpu"
source, estimate = torch.randn(100, 2, 2, device=device), torch.randn(100, 2, 2, device=device)
print(cal_si_snr(source, estimate))
