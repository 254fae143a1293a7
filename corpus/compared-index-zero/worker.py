import torch


class Worker:
    """Runs a model on a GPU, by its number, or on the host where `gpu` is None."""

    def __init__(self, model: torch.nn.Module, gpu: int | None):
        self.gpu = gpu
        self.model = model if gpu is None else model.cuda(gpu)

    def run(self, rows: torch.Tensor) -> torch.Tensor:
        if self.gpu:
            rows = rows.cuda(self.gpu)
        with torch.no_grad():
            return self.model(rows)
