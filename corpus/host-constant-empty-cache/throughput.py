import time

import torch

from attention import CachedAttention

# No session has begun yet: there is nothing to attend to.
EMPTY_PAST = torch.empty((2, 1, 1, 0, 1))


def measure(width: int, device: torch.device, dtype: torch.dtype, steps: int = 3) -> float:
    """Tokens per second of one block."""
    block = CachedAttention(width, heads=2).to(device, dtype)
    past = EMPTY_PAST.to(dtype)
    hidden = torch.ones(1, 1, width, device=device, dtype=dtype)
    started = time.perf_counter()
    with torch.inference_mode():
        for _ in range(steps):
            hidden = block(hidden, past)
    assert hidden.isfinite().all()
    return steps / (time.perf_counter() - started)
