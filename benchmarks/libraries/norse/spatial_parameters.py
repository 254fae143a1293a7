import torch
from norse.torch.functional.receptive_field import spatial_parameters

device = "cuda" if torch.cuda.is_available() else "cpu"
scales = torch.tensor([1.0, 2.0], device=device)
angles = torch.tensor([0.0, 1.0], device=device)
ratios = torch.tensor([1.0, 2.0], device=device)
print(spatial_parameters(scales, angles, ratios, derivatives=1))
