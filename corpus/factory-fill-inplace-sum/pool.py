import torch


def add_rows(out: torch.Tensor, index: torch.Tensor, rows: torch.Tensor) -> None:
    """Add each row of `rows` to the row of `out` that `index` names."""
    out.index_add_(0, index, rows)


def segment_sum(values: torch.Tensor, index: torch.Tensor, groups: int) -> torch.Tensor:
    """Sum the rows of values (n, width) by group."""
    pooled = torch.zeros(groups, values.shape[1])
    add_rows(pooled, index, values)
    return pooled
