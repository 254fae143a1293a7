"""A LightningModule that augments the batch after it was moved."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitImages(L.LightningModule):
    def __init__(self, noise=0.1):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 16), nn.ReLU(), nn.Linear(16, 2))
        self.criterion = nn.CrossEntropyLoss()

    def on_after_batch_transfer(self, batch, dataloader_idx):
        images, labels = batch
        if self.trainer.training:
            mean = torch.tensor([0.5, 0.4, 0.3]).view(1, 3, 1, 1)
            images = images - mean
            images = images + self.noise * torch.randn(images.shape)
        return images, labels

    def training_step(self, batch, batch_idx):
        images, labels = batch
        loss = self.criterion(self.net(images), labels)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class ImageData(L.LightningDataModule):
    def setup(self, stage):
        self.data = TensorDataset(torch.rand(16, 3, 8, 8), torch.randint(0, 2, (16,)))

    def train_dataloader(self):
        return DataLoader(self.data, batch_size=4)


def main():
    L.seed_everything(3)
    trainer = L.Trainer(max_epochs=1, devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(LitImages(), datamodule=ImageData())
    print(f"loss {trainer.callback_metrics['loss']:.4f}")


if __name__ == "__main__":
    main()
