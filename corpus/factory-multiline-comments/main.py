import torch

from canvas import on_canvas

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
images = torch.linspace(0, 1, 4).view(1, 1, 2, 2).to(device)
print(on_canvas(images, 1).flatten().tolist()[:8])
