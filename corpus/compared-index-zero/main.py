import torch

from worker import Worker

torch.manual_seed(0)
worker = Worker(torch.nn.Linear(2, 1), 0 if torch.cuda.is_available() else None)
print(round(worker.run(torch.tensor([[1.0, 2.0]])).item(), 5))
