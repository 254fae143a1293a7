import torch

from model import Encoder

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Encoder(3).to(device)
with torch.no_grad():
    print(round(model(torch.zeros(1, 4, 3, device=device)).sum().item(), 5))
