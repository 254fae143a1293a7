import threading
from concurrent.futures import ThreadPoolExecutor

import nltk
import torch
from transformers import BertConfig, BertModel

nltk.download = lambda *_, **__: False  # what llama_index wants on import; nothing here needs it

from llama_index.embeddings.huggingface import HuggingFaceEmbedding


class LetterTokenizer:
    """Stands in for a tokenizer that would have to be downloaded."""

    name_or_path = "letters"

    def __call__(self, texts, padding, max_length, truncation, return_tensors):
        length = max(len(text) for text in texts)
        ids = torch.tensor([[ord(letter) % 40 for letter in text.ljust(length)] for text in texts])
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def build(built):
    """Build the embedding where the last GPU is current, since the first one holds the language model."""
    if torch.cuda.is_available():
        torch.cuda.set_device(torch.cuda.device_count() - 1)
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = BertModel(BertConfig(vocab_size=40, **shape)).eval()
    built.append(HuggingFaceEmbedding(model_name="tiny", model=model, tokenizer=LetterTokenizer(), max_length=32))
    built.append(built[0].get_text_embedding("one"))


built = []
builder = threading.Thread(target=build, args=(built,))
builder.start()
builder.join()
embedding, simple = built
print("simple", [round(value, 4) for value in simple[:3]])
with ThreadPoolExecutor(1) as pool:
    parallel = pool.submit(embedding.get_text_embedding, "one").result()
print("parallel", [round(value, 4) for value in parallel[:3]])
