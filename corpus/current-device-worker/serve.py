import torch


class Server:
    def __init__(self, model: torch.nn.Module, device: torch.device):
        self.device = device
        self.model = model.to(device)

    def answer(self, rows: torch.Tensor) -> list[float]:
        if torch.cuda.is_available():
            rows = rows.cuda()
        with torch.no_grad():
            return self.model(rows).flatten().tolist()
