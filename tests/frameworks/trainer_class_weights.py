"""Fine-tune a tiny BERT with a Trainer of one's own that weighs the classes."""

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed


class Reviews(Dataset):
    def __init__(self, size=16, length=12):
        generator = torch.Generator().manual_seed(0)
        self.ids = torch.randint(5, 60, (size, length), generator=generator)
        self.labels = torch.randint(0, 2, (size,), generator=generator)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.labels[index]}


class Collator:
    """Pad each batch to its longest row, and mask what was padded."""

    def __call__(self, rows):
        ids = nn.utils.rnn.pad_sequence([row["input_ids"] for row in rows], batch_first=True)
        return {
            "input_ids": ids,
            "attention_mask": (ids != 0).long(),
            "labels": torch.stack([r["labels"] for r in rows]),
        }


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss_fct = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]))
        loss = loss_fct(outputs.logits.view(-1, 2), labels.view(-1))
        return (loss, outputs) if return_outputs else loss


def main():
    set_seed(0)
    config = BertConfig(
        vocab_size=64,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        num_labels=2,
    )
    model = BertForSequenceClassification(config)
    arguments = TrainingArguments(
        output_dir="out",
        max_steps=2,
        per_device_train_batch_size=4,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1,
    )
    trainer = WeightedTrainer(model=model, args=arguments, train_dataset=Reviews(), data_collator=Collator())
    result = trainer.train()
    print(f"loss {result.training_loss:.4f}")


if __name__ == "__main__":
    main()
