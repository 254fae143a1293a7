import torch
from speechbrain.nnet.quaternion_networks.q_RNN import QRNN

device = "cuda" if torch.cuda.is_available() else "cpu"
inputs = torch.rand(10, 16, 40, device=device)
model = QRNN(hidden_size=16, input_shape=inputs.shape, dropout=0.2).to(device)
print(model(inputs)[0].shape)
