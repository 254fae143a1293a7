import torch
from speechbrain.nnet.autoencoders import VariationalAutoencoderOutput
from speechbrain.nnet.losses import VariationalAutoencoderLoss

device = "cuda" if torch.cuda.is_available() else "cpu"
targets = torch.randn(3, 2, device=device)
latent = torch.randn(3, 1, device=device)
predictions = VariationalAutoencoderOutput(
    rec=targets + 0.1,
    latent=latent,
    mean=latent,
    log_var=torch.zeros_like(latent),
    latent_sample=latent,
    latent_length=None,
)
print(VariationalAutoencoderLoss(dist_loss_weight=0.5).to(device)(predictions, targets))
