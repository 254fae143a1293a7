"""A diffusion pipeline of one's own, with a small UNet that was never trained."""

import torch
from diffusers import DDPMScheduler, DiffusionPipeline, UNet2DModel


class TinyPipeline(DiffusionPipeline):
    def __init__(self, unet, scheduler):
        super().__init__()
        self.register_modules(unet=unet, scheduler=scheduler)

    @torch.no_grad()
    def __call__(self, batch_size=1, num_inference_steps=3, generator=None):
        size = self.unet.config.sample_size
        image = torch.randn((batch_size, 3, size, size), generator=generator)
        image = image.to(self.device)
        self.scheduler.set_timesteps(num_inference_steps)
        for t in self.scheduler.timesteps:
            times = t.expand(batch_size)
            residual = self.unet(image, times).sample
            image = self.scheduler.step(residual, t, image, generator=generator).prev_sample
        return (image / 2 + 0.5).clamp(0, 1)


def main():
    torch.manual_seed(0)
    unet = UNet2DModel(
        sample_size=8,
        in_channels=3,
        out_channels=3,
        layers_per_block=1,
        block_out_channels=(8, 8),
        down_block_types=("DownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "UpBlock2D"),
        norm_num_groups=4,
    )
    pipeline = TinyPipeline(unet, DDPMScheduler(num_train_timesteps=10))
    pipeline.to("cuda" if torch.cuda.is_available() else "cpu")
    images = pipeline(batch_size=2, generator=torch.Generator().manual_seed(0))
    print(tuple(images.shape), round(images.mean().item(), 3))


if __name__ == "__main__":
    main()
