import numpy as np
import torch
from diffusers import AutoencoderKL, FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
transformer = FluxTransformer2DModel(
    in_channels=4,
    num_layers=1,
    num_single_layers=1,
    attention_head_dim=16,
    num_attention_heads=2,
    joint_attention_dim=8,
    pooled_projection_dim=8,
    axes_dims_rope=(4, 4, 8),
)
vae = AutoencoderKL(block_out_channels=(4,), latent_channels=1, norm_num_groups=1, use_quant_conv=False)
pipeline = FluxPipeline(
    scheduler=FlowMatchEulerDiscreteScheduler(),
    text_encoder=None,
    tokenizer=None,
    text_encoder_2=None,
    tokenizer_2=None,
    transformer=transformer,
    vae=vae,
).to(device)
pipeline.set_progress_bar_config(disable=True)
words = {"prompt_embeds": torch.ones(1, 3, 8), "pooled_prompt_embeds": torch.ones(1, 8)}
latents = pipeline(
    **{name: tensor.to(device) for name, tensor in words.items()},
    height=32,
    width=32,
    num_inference_steps=2,
    generator=torch.Generator().manual_seed(0),
    output_type="latent",
).images
print(tuple(latents.shape), np.isfinite(latents.float().cpu().numpy()).all())
