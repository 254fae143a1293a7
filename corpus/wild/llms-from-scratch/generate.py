import torch
from llms_from_scratch.ch04 import GPTModel
from llms_from_scratch.ch05 import generate, text_to_token_ids, token_ids_to_text


class LetterTokenizer:
    """Stands in for tiktoken's, which downloads its vocabulary."""

    def encode(self, text, allowed_special=()):
        return [ord(letter) for letter in text]

    def decode(self, ids):
        return "".join(chr(32 + number % 95) for number in ids)


CONFIG = {
    "vocab_size": 128,
    "context_length": 32,
    "emb_dim": 32,
    "n_heads": 4,
    "n_layers": 2,
    "drop_rate": 0.0,
    "qkv_bias": False,
}

torch.manual_seed(123)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
gpt = GPTModel(CONFIG)
gpt.to(device)
gpt.eval()
tokenizer = LetterTokenizer()
token_ids = generate(
    model=gpt,
    idx=text_to_token_ids("Every effort moves you", tokenizer),
    max_new_tokens=15,
    context_size=CONFIG["context_length"],
    top_k=25,
    temperature=0.0,
)
print(token_ids_to_text(token_ids, tokenizer))
