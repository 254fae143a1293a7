import torch

from guide import AutoFlow, Planar


class Model:
    def latent_dim(self, data):
        return data.shape[-1]

    def loss(self, data, latent):
        return ((data - latent) ** 2).mean()


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = Model()
guide = AutoFlow(model, Planar)
data = torch.ones(8, 3).to(device)
latent = guide(data)
optimizer = torch.optim.Adam(guide.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = model.loss(data, guide(data))
    loss.backward()
    optimizer.step()
print("trained", loss.ndim)
