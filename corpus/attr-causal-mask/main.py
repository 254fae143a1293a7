import torch

from attention import CausalAttention

torch.manual_seed(123)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
attention = CausalAttention(width=8, context=6)
attention.to(device)
batch = torch.linspace(-1, 1, 2 * 5 * 8, device=device).view(2, 5, 8)
print(sorted(attention.state_dict()))
print(round(attention(batch).sum().item(), 5))
