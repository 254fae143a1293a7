import torch
from torch import nn

from text import Text

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)


def columns_of(stream, columns):
    rows = len(stream) // columns
    stream = stream[: rows * columns]
    return stream.view(columns, rows).t().contiguous()


def window(source, start, length=5):
    inputs = source[start : start + length]
    targets = source[start + 1 : start + 1 + length].reshape(-1)
    return inputs, targets


text = Text()
training, held_out = columns_of(text.training, 4), columns_of(text.held_out, 4)


class Tagger(nn.Module):
    def __init__(self, count, width=8):
        super().__init__()
        self.embed = nn.Embedding(count, width)
        self.read = nn.GRU(width, width)
        self.say = nn.Linear(width, count)

    def forward(self, inputs):
        states, _ = self.read(self.embed(inputs))
        return self.say(states).flatten(0, 1)


def evaluate(source):
    with torch.no_grad():
        inputs, targets = window(source, 0)
        return criterion(model(inputs), targets).item()


model = Tagger(11).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for start in range(0, 20, 5):
    inputs, targets = window(training, start)
    loss = criterion(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{evaluate(held_out):.3f}")
