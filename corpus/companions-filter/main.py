import torch
from tracker import Tracker

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
tracker = Tracker()
measured = torch.sin(torch.linspace(0, 3, 6)).to(device)
for each in measured:
    tracker.predict()
    position = tracker.update(each.view(1, 1))
print(f"{position.item():.3f}")
