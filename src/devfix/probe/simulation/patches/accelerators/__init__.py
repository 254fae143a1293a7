"""What the kinds of accelerator have in common (streams, memory, `torch.accelerator`), `torch.mps` and `torch.xpu`."""
