import tempfile

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import outlines
from outlines.models.exllamav2 import exl2


def letters() -> str:
    """The folder of a tokenizer that knows the letters, since a real one would have to be downloaded."""
    words = [*"abcdefghijklmnopqrstuvwxyz .,;:?!()-+*", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    folder = tempfile.mkdtemp()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", unk_token="<unk>").save_pretrained(folder)
    return folder


# The second GPU, as in issue 909: the first one is used for something else.
gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
model = exl2(letters(), device=gpus - 1 if gpus else "cpu")
generator = outlines.generate.text(model, sampler=outlines.samplers.greedy())
print(repr(generator("abcab", max_tokens=6)))
