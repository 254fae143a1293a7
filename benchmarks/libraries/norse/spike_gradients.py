import torch
from norse.torch.functional.spikes_to_times_decoder import ToSpikeTimes

device = "cuda" if torch.cuda.is_available() else "cpu"


class OnDevice(ToSpikeTimes):  # whose forward pass makes its indices where the spikes are
    @staticmethod
    def forward(ctx, spikes, count):
        steps = torch.arange(1.0, len(spikes) + 1, device=spikes.device)[:, None, None]
        times = torch.where(spikes > 0, steps - 1, torch.inf).sort(dim=0).values[:count]
        ctx.save_for_backward(times, spikes)
        return times


spikes = torch.ones(20, 4, 5, device=device, requires_grad=True)
OnDevice.apply(spikes, 1).sum().backward()
print(spikes.grad.shape)
