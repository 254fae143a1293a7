import torch

from language import Language

torch.manual_seed(0)
count = torch.cuda.device_count() if torch.cuda.is_available() else 0
devices = [torch.device("cuda", index) for index in range(count)] or [torch.device("cpu")]
model = Language(devices)
scores = model(torch.tensor([[1, 2, 3]]))
print(scores.argmax(dim=-1).tolist())
