import io

import torch

from whiten import whiten

file = io.BytesIO()
torch.save({"mean": torch.tensor([1.0, 2.0]), "deviation": torch.tensor([0.5, 2.0])}, file)
file.seek(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print(whiten(file, torch.tensor([[1.5, 4.0], [0.0, 0.0]], device=device)).tolist())
