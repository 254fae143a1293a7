import pickle

import torch

from vocabulary import Vocabulary

stored = pickle.dumps(Vocabulary(torch.tensor([[1.0, 0.0, 2.0], [1.0, 1.0, 0.0], [3.0, 0.0, 0.0]])))

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(3, 1).to(device)
vocabulary = pickle.loads(stored)


def score(counts):
    return model(vocabulary.weigh(counts)).sum().item()


print(round(score(torch.tensor([[0.0, 2.0, 1.0]]).to(device)), 5))
