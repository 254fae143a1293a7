import torch

from throughput import measure

if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for dtype in (torch.float32, torch.bfloat16):
        speed = measure(16, device, dtype)
        print(dtype, "ok" if speed > 0 else "failed")
