import torch


def pad(rows: list[torch.Tensor], value: float) -> torch.Tensor:
    """Stack rows of different lengths, filled up with `value`."""
    length = max(len(row) for row in rows)
    padded = []
    for row in rows:
        missing = length - len(row)
        padded.append(
            torch.cat(
                [
                    row,
                    torch.full(
                        (missing,),
                        value,
                        dtype=rows[0].dtype,
                    ),
                ]
            )
        )
    return torch.stack(padded)
