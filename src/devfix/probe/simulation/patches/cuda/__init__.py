"""`torch.cuda` of simulated GPUs: streams, graphs, memory and the profiler."""
