import torch

from replay import Replay

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
critic = torch.nn.Linear(3, 1).to(device)
replay = Replay(size=16, width=3)
for step in range(8):
    replay.add(torch.full((3,), step / 8, device=device))
for _ in range(2):
    states = replay.sample(4)
    values = critic(states)
    print(round(values.sum().item(), 4))
