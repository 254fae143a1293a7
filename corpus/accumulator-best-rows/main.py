import torch

from tracker import BestOf

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
tracker = BestOf(4)
losses = torch.tensor([4.0, 3.0, 2.0, 1.0], device=device)
for step in range(3):
    print(step, tracker.update((losses - step).abs()))
