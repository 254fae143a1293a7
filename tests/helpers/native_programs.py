"""Programs that run with the compiled hot paths and without them."""

from __future__ import annotations

LOADED = 'sys.modules["devfix probe.simulation.native.loading"].extension() is not None'

# Each line's value is printed, or the error that it raises, and then where the provenance says it comes from.
PROGRAM = f"""
import sys, torch
places, records, operators = (
    sys.modules["devfix probe." + name]
    for name in ("provenance.places", "provenance.records", "simulation.operator_tables.operators"))
torch.manual_seed(0)
g = torch.Generator("cuda").manual_seed(3)
x = torch.arange(6.0, device="cuda").reshape(2, 3)
w = torch.nn.Parameter(torch.ones(2, 3, device="cuda"))
h = torch.ones(2, 3)
host = torch.Generator().manual_seed(5)
n = torch.tensor([1, 2, 3], device="cuda")

def told(event):
    at = [(place["line"], place["column"], place["function"]) for place in places.tell_all(event[1])]
    return operators.base_name(event[0]), at, event[2:4]

def history(tensor):
    known = records.of(tensor)
    if known is None:
        return None
    event, steps = known[0], []
    while event is not None:
        steps.append(told(event))
        event = event[4]
    return steps, known[1] and told(known[1]), known[2] and told(known[2])

def inplace():
    y = x.clone()
    y[0].add_(1)
    return y.mul_(2), y._version

def backward():
    w.grad = None
    ((x @ w.t()).relu().sum() * 2 - w.exp().mean()).backward()
    return w.grad

def long():
    y = x
    for _ in range(30):
        y = y + 1
    return y

def host_gradients():
    v = torch.ones(3, requires_grad=True)
    ((v * 2 - v[1]).exp().view(1, 3) @ h.t()).sum().backward()
    return v.grad, (v * 2).grad_fn.name(), v.view(1, 3)._base is v

def counted():
    with torch.no_grad():
        y = x.clone()
        z = y.detach()
        z.add_(1)
        y.mul_(2)
        z[0] = 5.0
        return y, z, y._version, z._version

def packed():
    seen = []
    def pack(value):
        seen.append((value.device, (value * 2).device))
        return value
    v = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        v.exp() * v, w * w
    return seen

def drawn(device):
    made = torch.Generator(device)
    torch.rand(3, device=device, generator=made)
    return made.get_offset(), torch.cuda.default_generators[0].get_offset()

def alone():
    rows = x.clone().unbind()
    rows[0].add_(1)
    return *rows, rows[0]._version, *torch.ops.aten.broadcast_tensors([x, x])

def many(tensor, *more, **named):
    return torch.cat([tensor, tensor], 0) + torch.stack([tensor, *more]).sum(0).repeat(2, 1), named

CASES = [
    lambda: x + x, lambda: x * 2, lambda: 2 - x, lambda: x ** 2, lambda: -x, lambda: x / w, lambda: x + h,
    lambda: h + 1, lambda: h * x, lambda: torch.exp(h), lambda: h.view(3, 2), lambda: h.sum().item(),
    lambda: torch.exp(input=x), lambda: x.sum(dim=1, keepdim=True), lambda: x.amax(1), lambda: x.clamp(min=1, max=3),
    lambda: x.view(3, 2), lambda: x.view(6)[1:4], lambda: x.t(), lambda: x.contiguous() is x, lambda: x.expand(4, 2, 3),
    lambda: torch.mm(x, x.t()), lambda: n.view(1, 3) @ n, lambda: torch.mm(n.view(1, 3), n.view(3, 1)),
    lambda: many(x, x, key=1), lambda: torch.cat([x, h]), lambda: torch.cat([]), lambda: x + "a", lambda: x.view(7),
    lambda: x[0].item(), lambda: x[0, 1].item(), lambda: bool(x), lambda: int(n[1]), lambda: float(w[0, 0]),
    lambda: torch.where(x > 2, x, w), lambda: x.max(0), lambda: x.split(1), lambda: torch.add(x, 1, out=x.clone()),
    lambda: torch.randn(3, device="cuda"), lambda: torch.rand(2, device="cuda", generator=g), lambda: torch.randn(2),
    lambda: torch.randint(0, 9, (4,), device="cuda"), lambda: torch.randperm(5, device="cuda"),
    lambda: torch.nn.functional.dropout(x, 0.5), lambda: x.clone().normal_(), lambda: torch.zeros(2, device="cuda"),
    lambda: torch.full((2,), 3.5, dtype=torch.float64, device="cuda:0"), lambda: torch.zeros(2, device="cuda:7"),
    lambda: torch.tensor([1.0, 2.0], device="cuda"), lambda: x.cpu(), lambda: x.double(), lambda: x.to(torch.int64),
    lambda: torch.complex(x, x).conj() * 2, lambda: torch.complex(x, x).imag, lambda: x // 0, lambda: n // 0,
    lambda: w + 1, lambda: w.exp(), lambda: w.view(3, 2), lambda: w.detach() + 1, inplace, backward, long,
    lambda: torch.zeros_like(x), lambda: torch.zeros_like(w), lambda: torch.full_like(x.t(), 2, dtype=torch.int64),
    lambda: torch.ones_like(x, requires_grad=True), lambda: x.new_zeros(2, 3), lambda: x.new_full((2,), 7.0),
    lambda: x.new_ones(2, device="cpu"), lambda: x.new_zeros(2, device="cuda:1"),
    lambda: torch.func.vmap(torch.zeros_like)(x),
    lambda: torch.jit.trace(lambda y: y.sigmoid() + y.new_ones(3), (x,))(x),
    lambda: torch.linalg.inv(x @ x.t() + torch.eye(2, device="cuda")), lambda: torch.nn.Linear(3, 2).cuda()(x),
    lambda: 1 - x, lambda: h - x, lambda: x == 2, lambda: x != w, lambda: x == h, lambda: x == "a", lambda: x in [x],
    lambda: torch.einsum("ij,kj->ik", x, w.detach()), lambda: torch.einsum("ij,kj", [x, x]), lambda: x @ x.t() @ x,
    lambda: torch.einsum(x, [0, 1], h, [0, 1]), lambda: torch.einsum("ii", n), lambda: torch.einsum("a,a", n, n),
    lambda: torch.where(x > 2, x, 0.0), lambda: torch.where(x > 2), lambda: torch.where(h > 0, x, x), lambda: x.max(),
    lambda: x.min(), lambda: torch.max(x, x + 1), lambda: torch.max(x, 1), lambda: x.max(dim=0), lambda: x.max(1, True),
    lambda: torch.addmm(x, x @ x.t(), x), lambda: x.addcmul(x, x, value=2), lambda: x.gather(1, n.view(1, 3) % 3),
    lambda: x.index_select(1, n), lambda: x.masked_fill(x > 2, 7), lambda: torch.norm(x), lambda: torch.norm(w, dim=1),
    lambda: x.softmax(-1), lambda: torch.softmax(h, 0, dtype=torch.float64), lambda: x.std(0), lambda: torch.var(w),
    lambda: torch.outer(n, n), lambda: torch.isclose(x, w), lambda: x.detach(), lambda: w.detach(), lambda: h.detach(),
    lambda: torch.nn.functional.softplus(x), lambda: torch.nn.functional.pad(x, (1, 1), "reflect"), lambda: x @ n,
    lambda: torch.nn.functional.pad(h, (1, 1)), lambda: x[0], lambda: x[:, 1:], lambda: x[..., None], lambda: h[1, 2],
    lambda: x[[0, 1]], lambda: x[x > 2], lambda: x[5], lambda: h[5], lambda: w[0], lambda: x[1:][0], lambda: x[True],
    host_gradients, counted, packed, lambda: torch.empty(3, device="cuda").shape, lambda: torch.zeros(2, device=0),
    lambda: torch.ones(2, device=torch.device("cuda", 0)), lambda: torch.rand(2, generator=host), lambda: torch.eye(2),
    lambda: torch.rand(2, generator=g), lambda: torch.rand(2, device="cuda", generator=host), lambda: drawn("cuda"),
    lambda: x.topk(2), lambda: w.sort(1), lambda: x.unbind(), lambda: w.unbind(1), lambda: x.chunk(2, 1),
    lambda: torch.nn.functional.layer_norm(x, (3,), w[0]), lambda: torch.broadcast_tensors(x, n),
    lambda: torch.unique(n, return_inverse=True, return_counts=True), lambda: torch.meshgrid(n, n, indexing="ij"),
    lambda: torch.ops.aten.unbind.int(x), lambda: torch.ops.aten.native_layer_norm(x, [3], None, None, 1e-5), alone,
    lambda: torch.complex(x, x).unbind(), lambda: torch.frexp(x),
    lambda: torch.zeros(2, **{{"".join(["dev", "ice"]): "cuda"}}), lambda: torch.zeros(2, pin_memory=True).is_pinned(),
    lambda: torch.zeros(2, requires_grad=True), lambda: torch.zeros(2, device="cuda", requires_grad=True),
    lambda: torch.zeros(2, 3, out=torch.empty(2, 3, device="cuda"), device="cuda"), lambda: torch.zeros(-1),
    lambda: torch.zeros(2, dtype=torch.float64), lambda: torch.arange(3, device="meta").device, lambda: torch.zeros(),
    lambda: torch.full_like(h, 2), lambda: torch.zeros_like(h, device="cuda"),
    lambda: torch.zeros_like(x, device="cpu"),
    lambda: torch.func.vmap(lambda row: row * 2)(x), lambda: torch.func.grad(lambda y: (y * y).sum())(x),
]
for number, case in enumerate(CASES):
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            try:
                value = case()
            except Exception as error:
                print(number, mode.__name__, type(error).__name__, str(error).splitlines()[0], error.__context__)
                continue
        values = value if isinstance(value, (tuple, list)) else (value,)
        for each in values:
            if isinstance(each, torch.Tensor):
                told_of = each.tolist(), each.dtype, each.device, each.stride(), each.is_leaf, history(each)
                print(number, mode.__name__, *told_of)
            else:
                print(number, mode.__name__, repr(each))
print(records.operations())
print({LOADED}, file=sys.stderr)
"""

# Each tensor in a shell of Python's and in one of the extension's: what C++ knows of both.
SHELLS = """
import sys, torch
tensor = sys.modules["devfix probe.simulation.tensors.tensor"]
base = torch.arange(24.0).reshape(2, 3, 4)
number = torch.complex(base, base)
makers = [
    lambda: base, lambda: base[1, 1:], lambda: base.permute(2, 0, 1), lambda: base[0, 0, 0], lambda: base.half(),
    lambda: base.expand(5, 2, 3, 4), lambda: base[:0], lambda: base[..., ::2], lambda: torch.empty(0),
    lambda: base.bool(), lambda: number, lambda: number.conj(), lambda: number.conj().imag, lambda: number[1].conj(),
    lambda: base.to_sparse(), lambda: base[0].to_sparse_csr(), lambda: base.to(torch.float8_e5m2),
    lambda: torch.nn.Parameter(base), lambda: torch.empty_strided((2, 3), (7, 2)),
    lambda: torch.nested.nested_tensor([base[0], base[1, :2]]),
]
def told(shell):
    plain = shell.layout is torch.strided and not shell.is_nested
    memory = plain and (shell.stride(), shell.storage_offset(), torch._C.TensorBase.untyped_storage(shell).nbytes())
    return (type(shell), torch._C._dispatch_keys(shell).raw_repr(), None if shell.is_nested else shell.shape, memory,
            shell.dtype, tensor.device_of(shell), shell.is_inference(), shell._is_view(), shell.is_leaf,
            shell.requires_grad, shell._devfix_gpu, sorted(vars(shell)))
for inference in (False, True):
    for maker in makers:
        with torch.inference_mode(inference), torch.utils._python_dispatch._disable_current_modes():
            held = maker()
            for ours, reference in ((tensor.wrap, tensor._wrap), (tensor.wrap_new, tensor._wrap_new)):
                assert ours is not reference
                one, two = ours(held, 1), reference(held, 1)
                assert told(one) == told(two), (held, told(one), told(two))
                assert one._devfix_held is held
print("same")
"""
