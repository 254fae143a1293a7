import torch

from latents import latents

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
decoder = torch.nn.AvgPool2d(2).to(device)
print(decoder(latents((1, 1, 4, 4), 7, device)).shape)
