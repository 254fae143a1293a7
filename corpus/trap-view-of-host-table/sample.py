import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 10)).to(device)
# All text there is: far too much for a GPU.
corpus = torch.arange(40) % 10
for start in (3, 17):
    window = corpus[start : start + 4]
    context, target = window[:-1], window[1:]
    scores = model(context)
    loss = nn.functional.cross_entropy(scores, target)
    print(round(loss.item(), 5))
assert corpus.device.type == "cpu"
