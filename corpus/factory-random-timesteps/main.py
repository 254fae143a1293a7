import torch

from schedule import signal_share

torch.manual_seed(7)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
alphas = torch.linspace(1, 0, 10).cumsum(0).to(device)
images = torch.ones(4, 1, 2, 2, device=device)
print((images * signal_share(alphas, images)).sum(dim=(1, 2, 3)).tolist())
