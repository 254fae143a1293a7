import torch


def evaluate(model, batches, device):
    totals = torch.zeros(3)
    for rows in batches:
        totals += model(rows.to(device)).softmax(dim=1).sum(dim=0)
    return totals


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 3).to(device)
whole = torch.linspace(-1, 1, 12).view(6, 2)
with torch.no_grad():
    totals = evaluate(model, [whole[:3], whole[3:]], device)
print([round(value, 4) for value in totals.tolist()])
