import numpy as np
import torch


class Dataset(torch.utils.data.Dataset):
    def __init__(self, values, window):
        self.values = values
        self.window = window

    def __len__(self):
        return len(self.values) - self.window

    def __getitem__(self, at):
        return self.values[at : at + self.window]


device = "mps" if torch.backends.mps.is_available() else "cpu"
series = np.arange(6, dtype=np.float64)
total = 0.0
for batch in torch.utils.data.DataLoader(Dataset(series, 2), batch_size=2):
    inputs = batch.to(device)
    total += inputs.sum().item()
print(total)
