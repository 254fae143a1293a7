"""Stands in for the real package, whose automatic split fills the first GPU first, whatever its caller wishes."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM


class ExLlamaV2Config:
    model_dir = ""

    def prepare(self):
        self.max_seq_len = 64


class ExLlamaV2Cache:
    """Keeps what was seen, as ids: enough for a model that reads all of them again."""

    def __init__(self, model, lazy=False):
        self.current_seq_len = 0
        self.seen = torch.zeros(1, 64, dtype=torch.long)

    def extend(self, ids):
        begin, end = self.current_seq_len, self.current_seq_len + ids.shape[1]
        self.seen[:, begin:end] = ids.cpu()
        self.current_seq_len = end
        return self.seen[:, :end]


ExLlamaV2Cache_8bit = ExLlamaV2Cache_Q4 = ExLlamaV2Cache


class ExLlamaV2:
    def __init__(self, config):
        self.loaded = False

    def load_autosplit(self, cache):
        torch.manual_seed(0)
        shape = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
        self.network = LlamaForCausalLM(LlamaConfig(vocab_size=40, **shape)).eval()
        if torch.cuda.is_available():
            self.network.to("cuda:0")
        self.loaded = True

    @torch.inference_mode()
    def forward(self, ids, cache, preprocess_only=False, loras=None):
        seen = cache.extend(ids).to(self.network.device)
        if not preprocess_only:
            return self.network(seen).logits.float()
