"""Print, for each call of torch.cuda, whether it initializes CUDA: each is the first in a forked child."""

import json
import os

from devfix.probe.simulation import world

CALLS = (
    "current_device()", "get_device_name()", "current_stream()", "synchronize()", "ipc_collect()", "get_rng_state()",
    "initial_seed()", "mem_get_info()", "can_device_access_peer(0, 1)", "get_sync_debug_mode()", "set_device(0)",
    "current_blas_handle()", "is_bf16_supported()", "device(0).__enter__()", "memory_stats()", "memory_allocated()",
    "memory_reserved()", "empty_cache()", "get_arch_list()", "is_available()", "device_count()", "manual_seed(1)",
    "seed()", "set_rng_state(torch.zeros(5, dtype=torch.uint8), 7)", "set_rng_state_all([])",
)  # fmt: skip


def told(name: str) -> str:
    """Return what a child tells that makes a call."""
    import torch

    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            eval(f"torch.cuda.{name}", {"torch": torch})
            text = str(torch.cuda.is_initialized())
        except Exception as error:
            text = repr(error)
        os.write(writing, text.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    text = os.read(reading, 1000).decode()
    os.close(reading)
    return text


world.enter("simulated", 2)
print(json.dumps({name: told(name) for name in CALLS}))
