import pytest
import tiny
import torch
from torch import nn

from whobenefits.generation.loading import load_model
from whobenefits.generation.processor import Norm, PackedMlp, made_quicker

PACKS = torch.ops.mkldnn._is_mkldnn_bf16_supported()
TOKENS = torch.arange(5, 65).view(2, 30)


@pytest.fixture(scope="module", params=["llama", "gemma2", "gemma3", "gpt2"])
def folder(request, tmp_path_factory):
    return tiny.tiny_llm(tmp_path_factory.mktemp(request.param), request.param)


def kinds(model, *classes):
    return sum(isinstance(module, classes) for module in model.modules())


@torch.inference_mode()
def logits(model):
    return model(TOKENS).logits.float()


def test_in_float32_a_model_stays_what_it_is(folder):
    plain, quick = load_model(folder, torch.float32), made_quicker(load_model(folder, torch.float32))
    assert [type(module) for module in quick.modules()] == [type(module) for module in plain.modules()]
    assert torch.equal(logits(quick), logits(plain))


@pytest.mark.skipif(not PACKS, reason="this processor has no products in bfloat16")
def test_in_bfloat16_the_logits_are_as_near_to_those_of_float32_as_the_plain_model_s(folder):
    exact = logits(load_model(folder, torch.float32))
    plain, quick = load_model(folder, torch.bfloat16), made_quicker(load_model(folder, torch.bfloat16))

    def error(model):
        return float((logits(model) - exact).square().mean().sqrt())

    assert error(quick) <= 1.25 * error(plain)
    assert kinds(quick, nn.Linear) == 0 and (kinds(quick, Norm) > 0) == (plain.config.model_type != "gpt2")
    assert kinds(quick, PackedMlp) == (0 if plain.config.model_type == "gpt2" else 2)


def test_a_layer_with_a_bias_stays_as_it_is():
    class Model(nn.Module):
        device, dtype, config = torch.device("cpu"), torch.bfloat16, None

        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4, dtype=torch.bfloat16)

    assert type(made_quicker(Model()).layer) is nn.Linear
