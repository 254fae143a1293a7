import torch

from model import Translator


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Translator(vocabulary=14, width=6, context=8).to(device)
    model.eval()
    ids = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    with torch.no_grad():
        scores = model(ids)
    print(scores.argmax(dim=-1).tolist())


if __name__ == "__main__":
    main()
