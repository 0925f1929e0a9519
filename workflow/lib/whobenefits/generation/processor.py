"""A model made quicker on a processor: the same sums, in fewer passes over memory.

Weights are laid out once as the processor's products want them, which plain layers do at every product; what follows a
product (an activation, a factor) is done before it leaves the cache; norms work in place. Only in bfloat16, which rounds
anyway: in float32 a model stays what it is, to the bit.
"""

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

# Activations of the models' names that oneDNN knows, with its own names and algorithms.
ACTIVATIONS = {"silu": ("swish", ""), "gelu_pytorch_tanh": ("gelu", "tanh")}
# Norms by the names of their classes: what is added to the weight, and whether it multiplies before rounding.
NORMS = {"LlamaRMSNorm": (0.0, False), "Gemma2RMSNorm": (1.0, True), "Gemma3RMSNorm": (1.0, True)}
MLPS = ("LlamaMLP", "Gemma2MLP", "Gemma3MLP")


class Norm(nn.Module):
    """Root mean square norm, in float32 and in place."""

    def __init__(self, norm: nn.Module, offset: float, in_float: bool) -> None:
        super().__init__()
        self.eps = norm.eps if hasattr(norm, "eps") else norm.variance_epsilon
        weight = norm.weight.detach()
        self.weight, self.in_float = weight.float() + offset if in_float else weight, in_float

    def forward(self, x: Tensor) -> Tensor:
        """The shape stays."""
        y = x.to(torch.float32, copy=True)
        size = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
        y.mul_(size.square_().div_(x.shape[-1]).add_(self.eps).rsqrt_())
        return y.mul_(self.weight).to(x.dtype) if self.in_float else y.to(x.dtype).mul_(self.weight)


class PackedLinear(nn.Module):
    """A linear layer without bias whose weights are laid out for oneDNN, with an activation or a factor behind it."""

    def __init__(self, linear: nn.Linear, activation: tuple[str, str] = ("none", "")) -> None:
        super().__init__()
        self.packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), None)
        self.activation = activation

    def forward(self, x: Tensor, factor: Tensor | None = None) -> Tensor:
        """(any, inputs) to (any, outputs)."""
        if factor is not None:
            return torch.ops.mkldnn._linear_pointwise.binary(x, factor, self.packed, None, "mul")
        name, algorithm = self.activation
        return torch.ops.mkldnn._linear_pointwise(x, self.packed, None, name, [], algorithm)


class PackedMlp(nn.Module):
    """A gated MLP of packed layers."""

    def __init__(self, mlp: nn.Module, activation: tuple[str, str]) -> None:
        super().__init__()
        self.gate, self.up = PackedLinear(mlp.gate_proj, activation), PackedLinear(mlp.up_proj)
        self.down = PackedLinear(mlp.down_proj)

    def forward(self, x: Tensor) -> Tensor:
        """The shape stays."""
        return self.down(self.up(x, self.gate(x)))


def made_quicker(model: PreTrainedModel) -> PreTrainedModel:
    """The model itself, with its modules replaced where it is in bfloat16 on a processor that multiplies in it."""
    on_processor = model.device.type == "cpu" and model.dtype == torch.bfloat16
    if not (on_processor and torch.ops.mkldnn._is_mkldnn_bf16_supported()):
        return model
    # The architectures differ in the name of this setting.
    names = (getattr(model.config, name, "") for name in ("hidden_activation", "hidden_act"))
    activation = next((ACTIVATIONS[name] for name in names if name in ACTIVATIONS), None)
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            made = _quicker(child, activation)
            if made is not None:
                setattr(parent, name, made)
    return model


def _quicker(module: nn.Module, activation: tuple[str, str] | None) -> nn.Module | None:
    kind = type(module).__name__
    if kind in NORMS:
        return Norm(module, *NORMS[kind])
    if kind in MLPS and activation and module.gate_proj.bias is None:
        return PackedMlp(module, activation)
    if type(module) is nn.Linear and module.bias is None:
        return PackedLinear(module)
    return None
