import torch


class Settings:
    """Where things are computed: everything on the last GPU."""

    def __init__(self):
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        self.model_device = torch.device("cuda", count - 1) if count else torch.device("cpu")
        self.data_device = torch.device("cuda", 0) if count else torch.device("cpu")
