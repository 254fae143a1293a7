"""Train and evaluate with Ignite's own engines."""

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def get_loaders():
    features = torch.randn(32, 8)
    labels = (features[:, 0] > 0).long()
    data = TensorDataset(features, labels)
    return DataLoader(data, batch_size=8, shuffle=True), DataLoader(data, batch_size=16)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader, val_loader = get_loaders()
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    criterion = nn.CrossEntropyLoss()

    trainer = create_supervised_trainer(model, optimizer, criterion, device=device)
    metrics = {"accuracy": Accuracy(), "nll": Loss(criterion)}
    evaluator = create_supervised_evaluator(model, metrics=metrics)

    @trainer.on(Events.EPOCH_COMPLETED)
    def log_validation_results(trainer):
        evaluator.run(val_loader)
        print(f"epoch {trainer.state.epoch}: accuracy {evaluator.state.metrics['accuracy']:.3f}")

    trainer.run(train_loader, max_epochs=2)


if __name__ == "__main__":
    main()
