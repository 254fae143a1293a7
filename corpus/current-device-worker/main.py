import torch

from serve import Server

torch.manual_seed(0)
gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
server = Server(torch.nn.Linear(2, 1), torch.device("cuda", gpus - 1) if gpus else torch.device("cpu"))
print([round(value, 4) for value in server.answer(torch.ones(1, 2))])
