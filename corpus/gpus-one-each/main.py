import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def batches(rank: int):
    generator = torch.Generator().manual_seed(rank)
    for _ in range(2):
        rows = torch.randn(8, 4, generator=generator)
        yield rows, (rows.sum(dim=1) > 0).long()


def main() -> None:
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 2).to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for rows, labels in batches(rank):
        rows = rows.to(rank)
        loss = nn.functional.cross_entropy(model(rows), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(round(loss.item(), 5))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
