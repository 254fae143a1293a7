import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 4)
        self.head = nn.Linear(6, 2)

    def forward(self, ids, features):
        return self.head(torch.cat([self.words(ids).mean(1), features], dim=1))


class Service:
    def __init__(self):
        torch.manual_seed(0)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = Ranker().to(self.device).eval()

    def preprocess(self, requests):
        ids = torch.tensor([each["ids"] for each in requests])
        features = torch.tensor([each["features"] for each in requests])
        return {"ids": ids, "features": features}

    @torch.no_grad()
    def predict(self, requests):
        batch = self.preprocess(requests)
        scores = self.model(batch["ids"], batch["features"])
        return scores.argmax(1).tolist()


print(Service().predict([{"ids": [1, 2], "features": [0.5, 1.0]}, {"ids": [3, 4], "features": [0.1, 2.0]}]))
