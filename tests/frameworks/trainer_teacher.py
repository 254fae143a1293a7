"""Distil a small model into a smaller one: the teacher is no argument of the Trainer."""

import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed


class Reviews(Dataset):
    def __init__(self, size=16, length=12):
        generator = torch.Generator().manual_seed(0)
        self.ids = torch.randint(5, 60, (size, length), generator=generator)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": torch.tensor(index % 2)}


class RowCollator:
    """Also tells which rows are long; the Trainer moves what is a tensor in a dict."""

    def __call__(self, rows):
        ids = torch.stack([row["input_ids"] for row in rows])
        return {"input_ids": ids, "labels": torch.stack([row["labels"] for row in rows]), "weights": [0.5] * len(rows)}


class DistillationTrainer(Trainer):
    def __init__(self, *args, teacher=None, temperature=2.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher
        self.teacher.eval()
        self.temperature = temperature

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        weights = torch.tensor(inputs.pop("weights"))
        student = model(**inputs)
        with torch.no_grad():
            teacher = self.teacher(**inputs)
        soft = F.kl_div(
            F.log_softmax(student.logits / self.temperature, dim=-1),
            F.softmax(teacher.logits / self.temperature, dim=-1),
            reduction="none",
        ).sum(dim=-1)
        loss = student.loss + (soft * weights).mean()
        return (loss, student) if return_outputs else loss


def build(width):
    return BertForSequenceClassification(
        BertConfig(
            vocab_size=64,
            hidden_size=width,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=32,
            num_labels=2,
        )
    )


def main():
    set_seed(0)
    arguments = TrainingArguments(
        output_dir="out",
        max_steps=2,
        per_device_train_batch_size=4,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1,
        remove_unused_columns=False,
    )
    trainer = DistillationTrainer(
        model=build(16),
        args=arguments,
        train_dataset=Reviews(),
        data_collator=RowCollator(),
        teacher=build(32),
    )
    result = trainer.train()
    print(f"loss {result.training_loss:.4f}")


if __name__ == "__main__":
    main()
