import torch

from augment import drop_words

torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ids = torch.arange(10, 22).view(2, 6).to(device)
print(drop_words(ids, 0.3).tolist())
