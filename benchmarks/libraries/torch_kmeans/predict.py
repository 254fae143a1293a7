import torch
from torch_kmeans import ConstrainedKMeans

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(2, 20, 3, device=device)
weights = torch.full((2, 20), 0.1, device=device)
model = ConstrainedKMeans(n_clusters=4).fit(x, k=4, weights=weights)
print(model.predict(x, weights).shape)
