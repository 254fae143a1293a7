import torch


def on_canvas(images: torch.Tensor, margin: int) -> torch.Tensor:
    """Images (n, c, h, w) in the middle of a grey canvas."""
    number, channels, height, width = images.shape
    # The canvas grows by the margin on all four sides.
    canvas = (
        torch.full(
            (number, channels, height + 2 * margin, width + 2 * margin),  # sizes
            0.5,  # grey
        )
    )
    inside = torch.nn.functional.pad(images, [margin] * 4)
    return torch.maximum(canvas, inside)
