"""Programs as people write them, on the CPU or on simulated GPUs; prints the numbers that they compute as JSON.

Argument: "cpu" or "simulated". Every transformers model is tiny, random, and made from a configuration alone.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")
import torch  # noqa: E402

if sys.argv[1] == "simulated":
    from devfix.probe.simulation import world

    world.enter("simulated", 2)
torch.set_num_threads(1)
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SECOND = "cuda:1" if torch.cuda.device_count() > 1 else DEVICE

import transformers  # noqa: E402

SMALL = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37,
    "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def ids() -> torch.Tensor:
    return torch.arange(3, 27).view(2, 12) % 99


def text(**labels: Any) -> dict[str, Any]:
    return {"input_ids": ids(), **labels}


def picture() -> torch.Tensor:
    return torch.linspace(-1, 1, 2 * 3 * 32 * 32).view(2, 3, 32, 32)


def make(name: str, config: str, inputs: dict[str, Any], generate: bool = False, **settings: Any) -> dict[str, Any]:
    """Train a model for three steps, and let it generate where it can; the losses and the tokens."""
    torch.manual_seed(0)
    model = getattr(transformers, name)(getattr(transformers, config)(**settings)).to(DEVICE)
    inputs = {key: value.to(DEVICE) if isinstance(value, torch.Tensor) else value for key, value in inputs.items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    model.train()
    for _ in range(3):
        output = model(**inputs)
        loss = output.loss if getattr(output, "loss", None) is not None else output[0].float().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    found: dict[str, Any] = {"losses": losses}
    if generate:
        model.eval()
        keys = [key for key in ("input_ids", "input_features", "attention_mask") if key in inputs]
        tokens = model.generate(**{key: inputs[key] for key in keys}, max_new_tokens=6, do_sample=False, pad_token_id=0)
        found["tokens"] = tokens.tolist()
    return found


def vision(**more: Any) -> dict[str, Any]:
    base = {
        "image_size": 32,
        "patch_size": 8,
        "num_labels": 3,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    return {**base, "intermediate_size": 37, **more}


LM = {"inputs": text(labels=ids()), "generate": True}
SEQ = {"inputs": text(labels=ids()), "generate": True, "decoder_start_token_id": 0}
PICTURE = {"inputs": {"pixel_values": picture(), "labels": torch.tensor([0, 2])}}
WAVE = torch.linspace(-1, 1, 2 * 1600).view(2, 1600)
MODELS: dict[str, Callable[[], dict[str, Any]]] = {
    "llama": lambda: make("LlamaForCausalLM", "LlamaConfig", **LM, **SMALL),
    "mistral": lambda: make("MistralForCausalLM", "MistralConfig", **LM, **SMALL, num_key_value_heads=2),
    "qwen2": lambda: make("Qwen2ForCausalLM", "Qwen2Config", **LM, **SMALL, num_key_value_heads=2),
    "gpt2": lambda: make(
        "GPT2LMHeadModel", "GPT2Config", **LM, vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=1, eos_token_id=2,
    ),
    "gemma": lambda: make("GemmaForCausalLM", "GemmaConfig", **LM, **SMALL, num_key_value_heads=1, head_dim=8),
    "mixtral": lambda: make(
        "MixtralForCausalLM", "MixtralConfig", **LM, **{**SMALL, "intermediate_size": 64}, num_key_value_heads=4,
        num_local_experts=2,
    ),
    "bert": lambda: make("BertForMaskedLM", "BertConfig", text(labels=ids()), **SMALL, **STILL),
    "roberta": lambda: make("RobertaForMaskedLM", "RobertaConfig", text(labels=ids()), **SMALL, **STILL),
    "distilbert": lambda: make(
        "DistilBertForMaskedLM", "DistilBertConfig", text(labels=ids()), vocab_size=99, dim=32, n_layers=2, n_heads=4,
        hidden_dim=37, max_position_embeddings=64, dropout=0.0, attention_dropout=0.0,
    ),
    "t5": lambda: make(
        "T5ForConditionalGeneration", "T5Config", **SEQ, vocab_size=99, d_model=32, d_kv=8, d_ff=37, num_layers=2,
        num_heads=4, dropout_rate=0.0, pad_token_id=0, eos_token_id=2,
    ),
    "bart": lambda: make(
        "BartForConditionalGeneration", "BartConfig", **SEQ, vocab_size=99, d_model=32, encoder_layers=2,
        decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=37, decoder_ffn_dim=37,
        max_position_embeddings=64, dropout=0.0, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        forced_eos_token_id=None,
    ),
    "vit": lambda: make("ViTForImageClassification", "ViTConfig", **PICTURE, **vision(), **STILL),
    "resnet": lambda: make(
        "ResNetForImageClassification", "ResNetConfig", **PICTURE, embedding_size=8, hidden_sizes=[8, 16],
        depths=[1, 1], num_labels=3, layer_type="basic",
    ),
    "convnext": lambda: make(
        "ConvNextForImageClassification", "ConvNextConfig", **PICTURE, hidden_sizes=[8, 16], depths=[1, 1],
        num_stages=2, num_labels=3,
    ),
    "whisper": lambda: make(
        "WhisperForConditionalGeneration", "WhisperConfig",
        {"input_features": torch.linspace(-1, 1, 960).view(2, 8, 60), "labels": ids()}, vocab_size=99, d_model=16,
        encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, num_mel_bins=8, max_source_positions=30, max_target_positions=40, dropout=0.0,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3, suppress_tokens=None,
        begin_suppress_tokens=None,
    ),
    "wav2vec2": lambda: make(
        "Wav2Vec2ForSequenceClassification", "Wav2Vec2Config", {"input_values": WAVE, "labels": torch.tensor([0, 1])},
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=20, conv_dim=(8, 8),
        conv_stride=(5, 2), conv_kernel=(10, 3), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2,
        hidden_dropout=0.0, attention_dropout=0.0, feat_proj_dropout=0.0, layerdrop=0.0, mask_time_prob=0.0,
        activation_dropout=0.0, final_dropout=0.0,
    ),
}  # fmt: skip


def diffusion() -> dict[str, Any]:
    """A diffusers pipeline of a tiny UNet."""
    import diffusers

    torch.manual_seed(0)
    unet = diffusers.UNet2DModel(
        sample_size=8, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=4,
    )  # fmt: skip
    pipeline = diffusers.DDIMPipeline(unet=unet, scheduler=diffusers.DDIMScheduler()).to(DEVICE)
    pipeline.set_progress_bar_config(disable=True)
    generator = torch.Generator(device=DEVICE).manual_seed(0)
    images = pipeline(batch_size=1, generator=generator, num_inference_steps=3, output_type="np").images
    return {"sum": float(images.sum()), "first": images.flatten()[:8].tolist()}


def sharded() -> dict[str, Any]:
    """A device_map of accelerate over two GPUs."""
    from accelerate import dispatch_model

    torch.manual_seed(0)
    config = transformers.LlamaConfig(**SMALL)
    model = transformers.LlamaForCausalLM(config).eval()
    if DEVICE != "cpu":
        places = {"model.embed_tokens": 0, "model.rotary_emb": 0, "model.layers.0": 0, "model.layers.1": 1}
        model = dispatch_model(model, {**places, "model.norm": 1, "lm_head": 1})
        assert str(model.model.layers[1].mlp.up_proj.weight.device) == SECOND
    tokens = model.generate(ids().to(DEVICE), max_new_tokens=6, do_sample=False, pad_token_id=0)
    return {"tokens": tokens.tolist()}


def trainer_loop() -> dict[str, Any]:
    """A loop as Lightning writes it: a module with training_step, a loader, accelerate's moves, mixed precision off."""
    from accelerate import Accelerator

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.GELU(), torch.nn.Linear(16, 2))

        def training_step(self, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
            return torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

    torch.manual_seed(0)
    module = Module()
    data = torch.utils.data.TensorDataset(torch.linspace(-1, 1, 64).view(16, 4), torch.arange(16) % 2)
    accelerator = Accelerator(cpu=DEVICE == "cpu")
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    module, optimizer, loader, scheduler = accelerator.prepare(module, optimizer, loader, scheduler)
    losses = []
    for _ in range(2):
        for batch in loader:
            assert batch[0].device.type == DEVICE
            loss = module.training_step(batch)
            optimizer.zero_grad()
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(module.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
    return {"losses": losses}


def recurrent() -> dict[str, Any]:
    """An RNN trainer with packed sequences."""
    torch.manual_seed(0)
    embed, rnn, head = torch.nn.Embedding(20, 8), torch.nn.LSTM(8, 8, batch_first=True), torch.nn.Linear(8, 2)
    model = torch.nn.ModuleList([embed, rnn, head]).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    words, lengths = torch.arange(18).view(3, 6), torch.tensor([6, 4, 2])
    losses = []
    for _ in range(4):
        packed = torch.nn.utils.rnn.pack_padded_sequence(embed(words.to(DEVICE)), lengths, batch_first=True)
        _, (hidden, _) = rnn(packed)
        loss = torch.nn.functional.cross_entropy(head(hidden[-1]), torch.tensor([0, 1, 0], device=DEVICE))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses}


for name, program in {
    **MODELS,
    "diffusers": diffusion,
    "device_map": sharded,
    "loop": trainer_loop,
    "rnn": recurrent,
}.items():
    try:
        found = program()
    except Exception as error:
        if os.environ.get("DEVFIX_SHOW"):
            raise
        found = {"error": f"{type(error).__name__}: {error}"[:500]}
    print(json.dumps([name, found]), flush=True)
