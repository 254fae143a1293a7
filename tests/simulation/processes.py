"""Workers, spawned and forked processes, threads, and pickled tensors between them."""

import multiprocessing
import os
import threading

import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.tensor([index * index])


def count(queue: multiprocessing.Queue) -> None:
    queue.put((torch.cuda.device_count(), torch.ones(2, device="cuda").sum().item()))


def add_one(tensor: torch.Tensor, model: torch.nn.Module, queue: multiprocessing.Queue) -> None:
    assert tensor.get_device() == 1 and isinstance(model.weight, torch.nn.Parameter)
    tensor.add_(1)
    queue.put(model.to(0)(torch.ones(1, 1, device=0)).sum().item() == model.weight.item())


def refused() -> int:
    """The exit code of a forked child that uses CUDA, which its parent has used."""
    child = os.fork()
    if child == 0:
        try:
            torch.ones(1, device="cuda")
        except RuntimeError as error:
            os._exit(3 if "Cannot re-initialize CUDA in forked subprocess" in str(error) else 4)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    before = os.fork()
    if before == 0:
        # The parent has not used CUDA yet, so the child may.
        os._exit(0 if torch.ones(1, device="cuda").is_cuda else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(before, 0)[1]) == 0
    for context in ("fork", "spawn"):
        batches = list(
            DataLoader(Squares(), batch_size=2, num_workers=1, multiprocessing_context=context, pin_memory=True)
        )
        assert [batch.flatten().tolist() for batch in batches] == [[0, 1], [4, 9], [16, 25]], batches
        assert all(batch.is_pinned() and batch.cuda().is_cuda for batch in batches)
    assert refused() == 3
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    process = spawn.Process(target=count, args=(queue,))
    process.start()
    assert queue.get() == (2, 2.0)
    process.join()
    shared, model = torch.ones(2, device="cuda:1"), torch.nn.Linear(1, 1, bias=False).cuda(1)
    context = torch.multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=add_one, args=(shared, model, queue))
    process.start()
    assert queue.get()
    process.join()
    assert shared.tolist() == [2.0, 2.0], "both processes have one memory"
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(str(torch.zeros(1).cuda().device)))
    thread.start()
    thread.join()
    assert seen == ["cuda:0"]
    print("all processes are done", flush=True)
