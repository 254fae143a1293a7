"""Two processes that ask for NCCL: collectives, DistributedDataParallel, objects, a tensor left on the CPU."""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook


def normalize_together(rank: int) -> None:
    """Train a step of a batch norm whose statistics are those of both processes."""
    torch.manual_seed(7)
    whole = torch.randn(6, 3, 2, 2)
    alone = torch.nn.BatchNorm2d(3)
    expected = alone(whole)
    together = torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.BatchNorm2d(3)).cuda()
    together = torch.nn.parallel.DistributedDataParallel(together, device_ids=[rank])
    part = slice(0, 2) if rank == 0 else slice(2, 6)
    mine = whole[part].cuda().requires_grad_()
    result = together(mine)
    assert torch.allclose(result.cpu(), expected[part], atol=1e-5) and result.is_cuda
    assert torch.allclose(together.module.running_var.cpu(), alone.running_var, atol=1e-5)
    result.square().sum().backward()
    given = whole.clone().requires_grad_()
    alone(given).square().sum().backward()
    assert torch.allclose(mine.grad.cpu(), given.grad[part], atol=1e-5)


def work(rank: int, port: str) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    assert dist.get_backend() == "nccl"
    x = torch.ones(2, device="cuda") * (rank + 1)
    dist.all_reduce(x)
    assert x.tolist() == [3.0, 3.0] and str(x.device) == f"cuda:{rank}"
    gathered = [torch.zeros(2, device="cuda") for _ in range(2)]
    dist.all_gather(gathered, x * rank)
    assert gathered[1].tolist() == [3.0, 3.0]
    dist.barrier(device_ids=[rank])
    torch.manual_seed(rank)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1).cuda(), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.full((4, 2), float(rank + 1), device="cuda")).sum().backward()
        optimizer.step()
    assert model.module.weight.grad.tolist() == [[6.0, 6.0]]
    weights = [torch.zeros_like(model.module.weight) for _ in range(2)]
    dist.all_gather(weights, model.module.weight.detach())
    assert torch.equal(weights[0], weights[1])
    whole, part = torch.zeros(4, device="cuda"), torch.full((1, 2), float(rank), device="cuda")
    dist.all_gather_into_tensor(whole, part)
    assert whole.tolist() == [0.0, 0.0, 1.0, 1.0] and part.shape == (1, 2)
    dist.reduce_scatter_tensor(part, whole.view(2, 2))
    assert part.tolist() == [[0.0, 0.0], [2.0, 2.0]][rank : rank + 1]
    summed = dist.all_reduce(x, async_op=True).get_future().then(lambda done: done.value()[0].half() / 2).wait()
    assert summed.dtype == torch.float16 and str(summed.device) == f"cuda:{rank}" and summed.tolist() == [3.0, 3.0]
    model.register_comm_hook(None, fp16_compress_hook)
    optimizer.zero_grad()
    model(torch.full((4, 2), float(rank + 1), device="cuda")).sum().backward()
    assert model.module.weight.grad.tolist() == [[6.0, 6.0]] and model.module.weight.grad.is_cuda
    normalize_together(rank)
    objects = [None, None]
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": 0}, {"rank": 1}]
    try:
        dist.all_reduce(torch.ones(1))
    except RuntimeError as error:
        assert "No backend type associated with device type cpu" in str(error)
    else:
        raise AssertionError("NCCL took a CPU tensor")
    dist.destroy_process_group()
    for turn in range(10):
        end_soon_after_a_backward_pass(rank, f"file://{tempfile.gettempdir()}/devfix-ranks-{port}-{turn}")
    sys.stdout.write(f"rank {rank} is done\n")  # at once: the lines of two processes would mix
    sys.stdout.flush()


def end_soon_after_a_backward_pass(rank: int, place: str) -> None:
    """What Gloo's threads still hold then must not keep the process from ending its group."""
    dist.init_process_group("nccl", init_method=place, rank=rank, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(9, 9).cuda(), device_ids=[rank])
    model(torch.ones(2, 9, device="cuda")).sum().backward()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, nprocs=2, args=(sys.argv[1],))
