import torch


class Blur:
    def kernel(self, size, device):
        return torch.full((1, 1, size, size), 1.0 / size**2, dtype=torch.double, device=device)

    def apply(self, image, size):
        return torch.nn.functional.conv2d(image, self.kernel(size, image.device).to(image.dtype))


device = "mps" if torch.backends.mps.is_available() else "cpu"
print(Blur().apply(torch.ones(1, 1, 4, 4, device=device), 2).sum().item())
