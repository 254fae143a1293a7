import torch

from gpt import TinyGPT, generate, text_to_ids


def main():
    torch.manual_seed(123)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TinyGPT().to(device).eval()
    prompt = "Every effort"
    ids = generate(
        model=model,
        idx=text_to_ids(prompt),
        max_new_tokens=5,
    )
    print(ids.squeeze(0).tolist())


if __name__ == "__main__":
    main()
