import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(3, 2).to(device)
rows = torch.ones(2, 3)
hidden = model(rows)
print(hidden.shape)
missing = {"hidden": hidden}["states"]
print(missing)
