import torch


def centred(rows):
    half = (rows[:, 2:4] - rows[:, :2]) / 2
    return torch.cat([rows[:, :2] + half, half * 2, rows[:, 4:]], dim=1)


class Found:
    """What was found in pictures: boxes by corners and by centres, in pixels and as parts of the picture."""

    def __init__(self, sizes, rows):
        self.sizes = sizes
        self.corners = rows
        self.centres = [centred(each) for each in rows]
        scales = [torch.Tensor([width, height, width, height, 1.0]) for height, width in sizes]
        self.corners_part = [row / scale for row, scale in zip(self.corners, scales, strict=True)]
        self.centres_part = [row / scale for row, scale in zip(self.centres, scales, strict=True)]
