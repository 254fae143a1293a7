"""Patches common to the kinds of accelerator (streams, memory, `torch.accelerator`), `torch.mps` and `torch.xpu`."""
