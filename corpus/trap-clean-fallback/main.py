import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
table = torch.arange(10.0)


def look_up(table, ids):
    try:
        return torch.index_select(table, 0, ids)
    except RuntimeError:
        return torch.index_select(table, 0, ids.cpu()).to(ids.device)


print(look_up(table, torch.tensor([1, 7], device=device)).tolist())
