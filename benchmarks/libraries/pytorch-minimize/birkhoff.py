import torch
from torchmin import minimize_constr

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(5, 10, device=device)
y = x.flip(0)
result = minimize_constr(
    lambda p: ((p @ y - x) ** 2).sum(),
    torch.eye(5, device=device),
    method="frank-wolfe",
    constr="birkhoff",
    max_iter=10,
)
print(result.x)
