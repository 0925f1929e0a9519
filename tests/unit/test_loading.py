from types import SimpleNamespace

import pytest
import tiny
import torch

from whobenefits.errors import UserError
from whobenefits.generation import loading
from whobenefits.generation.engine import Decoding, Engine
from whobenefits.generation.loading import load_model, misfit, parameter_count, usable_dtype
from whobenefits.generation.prompts import Prompt


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.tiny_llm(tmp_path_factory.mktemp("llm"))


@pytest.fixture
def gpus(monkeypatch):
    """As if this machine had two GPUs of 24 GB, in what is asked of torch; nothing is moved there."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda i: f"GPU {i}")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda i: SimpleNamespace(total_memory=24e9))


def test_the_headers_of_the_weights_count_all_parameters(folder):
    assert parameter_count(folder) == load_model(folder, torch.float32).num_parameters()


def test_a_given_number_format_is_taken_as_it_is(folder):
    assert usable_dtype("float16") == torch.float16
    assert load_model(folder, torch.bfloat16).dtype == torch.bfloat16


def test_layers_that_accelerate_spreads_over_devices_give_the_same_answers(folder, monkeypatch):
    # Two places on one processor: the layers pass through accelerate's hooks as they do between GPUs.
    prompts = [Prompt(text, (), 0) for text in ("Title: Lake Baikal\nArticle:", "Following")]
    decoding = Decoding("article", 2, 8, "none")

    def answers(engine):
        filled = [Prompt(p.text, tuple(engine.tokenizer(p.text)["input_ids"]), 0) for p in prompts]
        return [answer for batch in engine.answers(filled, decoding, 1000) for answer in batch.values()]

    whole = Engine(folder, "float32")
    spread = Engine(folder, "float32")
    from accelerate import dispatch_model

    device_map = {"model.embed_tokens": "cpu", "model.layers.0": "cpu", "model.layers.1": "disk"}
    device_map |= {"model.norm": "cpu", "model.rotary_emb": "cpu", "lm_head": "cpu"}
    spread.model = dispatch_model(spread.model, device_map, main_device="cpu", offload_dir=folder / "offload")
    assert answers(spread) == answers(whole)


def test_fewer_gpus_than_asked_for_is_an_error_before_anything_is_loaded(gpus, folder):
    with pytest.raises(UserError, match="gpus is 3 but the job sees 2: ask for more GPUs"):
        load_model(folder, torch.float32, gpus=3)


def test_a_model_that_does_not_fit_is_an_error_with_the_sizes(gpus, folder, monkeypatch):
    def no_memory(*args, **options):
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(loading.AutoModelForCausalLM, "from_pretrained", no_memory)
    monkeypatch.setattr(loading, "parameter_count", lambda folder: 9_240_000_000)
    # 9.24 billion numbers in two bytes each: 18.48 GB
    message = r"the model needs 18\.5 GB in torch\.bfloat16, and there are 24\.0 GB \+ 24\.0 GB of GPU memory: raise"
    with pytest.raises(UserError, match=message):
        load_model(folder, torch.bfloat16, gpus=2)


@pytest.mark.parametrize("place", ["cpu", "disk"])
def test_layers_are_never_moved_off_the_gpus_unasked(place, gpus, folder, monkeypatch):
    given = {}

    def spread(*args, device_map, **options):
        given["map"] = device_map
        return SimpleNamespace(hf_device_map={"model.layers.0": 0, "model.layers.1": place})

    monkeypatch.setattr(loading.AutoModelForCausalLM, "from_pretrained", spread)
    with pytest.raises(UserError, match=r"the model needs 0\.0 GB"):
        load_model(folder, torch.float32, gpus=2, device_map="balanced")
    assert given == {"map": "balanced"}


def test_one_gpu_takes_the_whole_model(gpus, folder, monkeypatch):
    given = {}

    def loaded(*args, device_map, **options):
        given["map"] = device_map
        return SimpleNamespace(eval=lambda: "model")

    monkeypatch.setattr(loading.AutoModelForCausalLM, "from_pretrained", loaded)
    assert load_model(folder, torch.float32) == "model" and given == {"map": {"": 0}}


def test_the_message_for_one_gpu_speaks_of_one(gpus, folder):
    assert "and there is 24.0 GB of GPU memory" in misfit(folder, torch.float32, 1)
