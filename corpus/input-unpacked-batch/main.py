import random

import torch
from torch import nn


class Replay:
    def __init__(self):
        self.rows = []

    def push(self, *row):
        self.rows.append(row)

    def sample(self, count):
        rows = random.sample(self.rows, count)
        states, actions, rewards, following, done = zip(*rows)
        return (
            torch.stack(states),
            torch.tensor(actions),
            torch.tensor(rewards),
            torch.stack(following),
            torch.tensor(done, dtype=torch.float32),
        )


def learn(policy, target, replay, optimizer):
    states, actions, rewards, following, done = replay.sample(4)
    values = policy(states).gather(1, actions[:, None]).squeeze(1)
    with torch.no_grad():
        best = target(following).max(1).values
    wanted = rewards + 0.9 * best * (1 - done)
    loss = nn.functional.mse_loss(values, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    policy, target = nn.Linear(3, 2).to(device), nn.Linear(3, 2).to(device)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    replay = Replay()
    for number in range(8):
        state = torch.full((3,), float(number))
        replay.push(state, number % 2, float(number), state + 1, number == 7)
    for _ in range(2):
        print(round(learn(policy, target, replay, optimizer), 4))


if __name__ == "__main__":
    main()
