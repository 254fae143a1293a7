"""A LightningModule that weighs its loss by a tensor made in the step."""

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitTagger(L.LightningModule):
    def __init__(self, vocabulary=30, width=12, tags=4):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(64, width)
        self.head = nn.Linear(width, tags)
        self.tags = tags

    def forward(self, ids):
        positions = torch.arange(ids.size(1)).unsqueeze(0)
        return self.head(self.token(ids) + self.position(positions))

    def training_step(self, batch, batch_idx):
        ids, tags = batch
        logits = self(ids)
        weight = torch.ones(self.tags)
        weight[0] = 0.1
        loss = F.cross_entropy(logits.view(-1, self.tags), tags.view(-1), weight=weight)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    L.seed_everything(7)
    data = TensorDataset(torch.randint(0, 30, (16, 10)), torch.randint(0, 4, (16, 10)))
    trainer = L.Trainer(max_epochs=1, devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False)
    model = LitTagger()
    trainer.fit(model, DataLoader(data, batch_size=4))
    print(f"loss {trainer.callback_metrics['loss']:.4f}")
