import torch
from torch import nn
from transformers import PretrainedConfig

from petals.server.throughput import measure_compute_rps
from petals.utils.convert_block import QuantType


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.query_key_value = nn.Linear(config.hidden_size, 3 * config.hidden_size)


class Block(nn.Module):
    """A block that keeps keys as (batch * heads, width of a head, length), as BLOOM's do."""

    def __init__(self, config):
        super().__init__()
        self.self_attn = Attention(config)

    def forward(self, hidden, layer_past=None, use_cache=False):
        batch, length, width = hidden.shape
        heads = self.self_attn.num_heads
        split = self.self_attn.query_key_value(hidden).view(batch, length, 3, heads, width // heads)
        query, key_states, value_states = split.permute(2, 0, 3, 4, 1).reshape(3, batch * heads, width // heads, length)
        if layer_past is not None:
            past_length = layer_past[0].numel() // (batch * width)
            past = layer_past[0].reshape(batch * heads, width // heads, past_length)
            key_states = torch.cat((past, key_states), dim=2)
            past = layer_past[1].reshape(batch * heads, width // heads, past_length)
            value_states = torch.cat((past, value_states), dim=2)
        weights = torch.softmax(query.transpose(1, 2) @ key_states, dim=-1)
        out = (weights @ value_states.transpose(1, 2)).reshape(batch, length, width)
        return hidden + out, (key_states, value_states)


config = PretrainedConfig(hidden_size=8, num_attention_heads=2, model_type="tiny")
config.block_class, config.attn_class = Block, Attention
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
for inference in (True, False):
    speed = measure_compute_rps(
        config,
        device,
        torch.float32,
        quant_type=QuantType.NONE,
        tensor_parallel_devices=(device,),
        n_tokens=1 if inference else 4,
        n_steps=3,
        inference=inference,
    )
    print("inference" if inference else "forward", speed > 0)
