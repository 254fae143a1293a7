import torch


class Tracker:
    """Follows a position and a speed."""

    def __init__(self, step=0.1):
        self.motion = torch.tensor([[1.0, step], [0.0, 1.0]])
        self.seen = torch.tensor([[1.0, 0.0]])
        self.noise = 0.01 * torch.eye(2)
        self.state = torch.zeros(2, 1)
        self.spread = torch.eye(2)

    def predict(self):
        self.state = self.motion @ self.state
        self.spread = self.motion @ self.spread @ self.motion.T + self.noise

    def update(self, measured):
        error = measured - self.seen @ self.state
        total = self.seen @ self.spread @ self.seen.T + 0.1
        gain = self.spread @ self.seen.T / total
        self.state = self.state + gain @ error
        self.spread = (torch.eye(2) - gain @ self.seen) @ self.spread
        return self.state[0]
