import numpy as np
import torch

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rows = torch.tensor([[1.0, 2.0], [0.5, 1.0]], device=device)
history = []
for _ in range(3):
    loss = model(rows).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.detach().numpy())
print(np.round(np.array(history), 4).tolist())
