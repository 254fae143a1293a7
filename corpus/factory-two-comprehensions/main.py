import torch

from boxes import Found


def detect(layer, pictures):
    rows = [layer(picture).abs() for picture in pictures]
    return Found([(4.0, 8.0) for _ in pictures], rows)


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
layer = torch.nn.Linear(3, 5).to(device)
found = detect(layer, torch.ones(2, 2, 3).to(device))
print(round(sum(each.sum().item() for each in found.corners_part + found.centres_part), 4))
