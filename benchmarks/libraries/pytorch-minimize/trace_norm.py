import torch
from torchmin import minimize_constr

device = "cuda" if torch.cuda.is_available() else "cpu"
target = torch.eye(5, device=device)
result = minimize_constr(
    lambda x: ((x - target) ** 2).sum(),
    torch.zeros(5, 5, device=device),
    method="frank-wolfe",
    constr="tracenorm",
    options={"t": 1.0},
    max_iter=10,
)
print(result.x)
