import torch

from latents import prepare_image_ids

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
mixer = torch.nn.Linear(3, 2).to(device)
ids = prepare_image_ids(3, 4, device, torch.float32)
with torch.no_grad():
    print(mixer(ids).sum(dim=0).cpu().numpy().round(4).tolist())
