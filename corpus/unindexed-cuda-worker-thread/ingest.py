from concurrent.futures import ThreadPoolExecutor

import torch

from embedding import Embedder

if torch.cuda.is_available():
    # The first GPU holds the language model already.
    torch.cuda.set_device(torch.cuda.device_count() - 1)
embedder = Embedder()
print("simple", embedder.embed(["one", "two"]).sum(dim=1).cpu().numpy().round(4).tolist())
with ThreadPoolExecutor(1) as pool:
    vectors = pool.submit(embedder.embed, ["three", "four"]).result()
print("parallel", vectors.sum(dim=1).cpu().numpy().round(4).tolist())
