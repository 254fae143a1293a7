"""A LightningModule that keeps its metrics in a plain dictionary."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy


class LitClassifier(L.LightningModule):
    def __init__(self, classes=3):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, classes))
        self.criterion = nn.CrossEntropyLoss()
        self.metrics = {
            "train": MulticlassAccuracy(num_classes=classes),
            "val": MulticlassAccuracy(num_classes=classes),
        }

    def forward(self, features):
        return self.layers(features)

    def _step(self, batch, stage):
        features, labels = batch
        scores = self(features)
        loss = self.criterion(scores, labels)
        self.metrics[stage].update(scores, labels)
        self.log(f"{stage}_loss", loss)
        return loss

    def training_step(self, batch, batch_idx):
        return self._step(batch, "train")

    def validation_step(self, batch, batch_idx):
        return self._step(batch, "val")

    def on_validation_epoch_end(self):
        self.log("val_acc", self.metrics["val"].compute())
        self.metrics["val"].reset()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    L.seed_everything(7)
    features = torch.randn(32, 8)
    labels = torch.randint(0, 3, (32,))
    data = TensorDataset(features, labels)
    trainer = L.Trainer(
        max_epochs=1,
        accelerator="auto",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    model = LitClassifier()
    trainer.fit(model, DataLoader(data, batch_size=8), DataLoader(data, batch_size=8))
    print(f"val_acc {trainer.callback_metrics['val_acc']:.3f}")


if __name__ == "__main__":
    main()
