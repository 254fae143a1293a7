# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %%
# %matplotlib is not needed here
import torch
from torch import nn

# %% [markdown]
# ## Sum

# %%
torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 1).to(device)

# %%
total = torch.zeros(1)
for step in range(3):
    total += model(torch.ones(1, 4, device=device)).detach()[0]
print(round(total.item(), 4))
