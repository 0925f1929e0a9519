"""The check of a run's settings, once and strictly. Imports nothing heavy: every job parses the Snakefile."""

from typing import Any

from pydantic import ValidationError

from whobenefits.categories import categories_of
from whobenefits.errors import ConfigError
from whobenefits.settings.base import nearest
from whobenefits.settings.dataset import WIKIPROJECT
from whobenefits.settings.study import PROMPTS, Config


def _problems(config: Config) -> list[str]:
    """What does not fit together, as one sentence each with place, value and remedy."""
    problems = _unknown_names(config)
    if config.retrieval.context_size > config.retrieval.depth:
        problems.append(
            f"retrieval.context_size is {config.retrieval.context_size} but retrieval.depth is "
            f"{config.retrieval.depth}: raise depth or lower context_size"
        )
    if not (PROMPTS / config.prompts).is_dir():
        hint = nearest(config.prompts, [path.name for path in PROMPTS.iterdir()])
        problems.append(f"prompts is {config.prompts!r}, which is no folder of config/prompts: {hint}")
    problems += _unstemmed(config)
    return problems or _crowded(config) + _same_labels(config) + _unselectable(config)


def _unstemmed(config: Config) -> list[str]:
    if not config.scoring.stemming or config.scoring.measure == "rouge-l-f1":
        return []
    return [
        f"scoring.stemming is true but scoring.measure is {config.scoring.measure!r}, which does not stem: set stemming "
        "to false or take rouge-l-f1"
    ]


def _same_labels(config: Config) -> list[str]:
    """Labels that two points of the grid share: tables and figures could not tell them apart."""
    problems = []
    for kind in ("topics", "retrievers", "llms"):
        labels = [getattr(config, kind)[name].label for name in getattr(config.grid, kind)]
        for label in sorted({label for label in labels if labels.count(label) > 1}):
            problems.append(f"{kind}: the label {label!r} stands for two of grid.{kind}: give each a label of its own")
    categories = categories_of(config.dataset.model_dump())
    labels = [categories[name].label for name in config.grid.categories]
    for label in sorted({label for label in labels if labels.count(label) > 1}):
        problems.append(f"dataset.categories: the label {label!r} stands for two of grid.categories: change one")
    return problems


def _unselectable(config: Config) -> list[str]:
    """Topics of the grid that the source cannot have, whatever its files hold."""
    if config.dataset.source != "trec-fair":
        return []
    selects = {name: config.topics[name].select for name in config.grid.topics}
    return [
        f"topics.{name}.select is {select!r}: write the id of a WikiProject, such as '666', or 'largest 1'"
        for name, select in selects.items()
        if not WIKIPROJECT.fullmatch(select)
    ]


def _unknown_names(config: Config) -> list[str]:
    problems = []
    for kind in ("topics", "tasks", "retrievers", "llms"):
        names, known = getattr(config.grid, kind), getattr(config, kind)
        problems += _unknown(f"grid.{kind}", names, known, f"or define it under {kind}")
    own = "define it under dataset.categories or " if hasattr(config.dataset, "categories") else ""
    remedy = f"or {own}take a source other than {config.dataset.source} that has it"
    categories = categories_of(config.dataset.model_dump())
    crossed = [(f"uncertainty.crossed.{i}", list(pair)) for i, pair in enumerate(config.uncertainty.crossed)]
    for place, names in (
        *(("grid.categories", config.grid.categories), ("queries.cells", config.queries.cells)),
        *crossed,
    ):
        problems += _unknown(place, names, categories, remedy)
    for place, name in asset_uses(config).items():
        problems += _unknown(place, [name], config.assets, "or add it under assets")
    return problems


def _crowded(config: Config) -> list[str]:
    """Tasks whose answers leave no room for a prompt in an LLM's context."""
    pairs = [(task, llm) for llm in config.grid.llms for task in config.grid.tasks]
    pairs = [(t, m) for t, m in pairs if config.tasks[t].max_new_tokens >= config.llms[m].context_tokens]
    return [
        f"tasks.{task}.max_new_tokens is {config.tasks[task].max_new_tokens} but llms.{llm}.context_tokens is "
        f"{config.llms[llm].context_tokens}: no room is left for a prompt, lower the first or raise the second"
        for task, llm in pairs[:1]
    ]


def _unknown(place: str, names: list[str], known: Any, remedy: str) -> list[str]:
    twice = sorted({name for name in names if names.count(name) > 1})
    problems = [f"{place} names {name!r} twice: remove one" for name in twice]
    return problems + [
        f"{place} names {name!r}, which is not known: {nearest(name, known)} {remedy}"
        for name in names
        if name not in known
    ]


def asset_uses(config: Config) -> dict[str, str]:
    """Each place of the settings that names an asset, and the asset."""
    uses = {"dataset.asset": config.dataset.asset} if hasattr(config.dataset, "asset") else {}
    uses |= {
        f"retrievers.{name}.model": item.model for name, item in config.retrievers.items() if hasattr(item, "model")
    }
    uses |= {f"llms.{name}.model": item.model for name, item in config.llms.items()}
    if hasattr(config.attribution, "model"):
        uses["attribution.model"] = config.attribution.model
    return uses


def checked_config(raw: dict[str, Any], source: str) -> Config:
    """The settings, or a ConfigError whose message has one line for each fault.

    `source` names the file, or files, that `raw` came from; it begins each line.
    """
    try:
        config = Config.model_validate(raw)
    except ValidationError as error:
        raise ConfigError("\n".join(f"{source}: {_sentence(fault)}" for fault in error.errors())) from None
    problems = _problems(config)
    if problems:
        raise ConfigError("\n".join(f"{source}: {problem}" for problem in problems))
    return config


def _sentence(fault: Any) -> str:
    """What is wrong, as `place: value and remedy`."""
    names = [str(part) for part in fault["loc"] if part != "[key]"]
    # Behind a retriever's name, attribution and dataset the location has the kind that was chosen: no key of the file.
    kind = {"retrievers": 2, "attribution": 1, "dataset": 1}.get(names[0] if names else "")
    if kind and len(names) > kind:
        del names[kind]
    place = f"{'.'.join(names)}: " if names else ""
    match fault["type"]:
        case "missing":
            return f"{place}is missing: add it (config/README.md says what it does)"
        case "too_short":
            return f"{place}names nothing, so nothing is computed: name at least one"
        case "own":
            return f"{place}{fault['msg']}"
        case "union_tag_invalid":
            known = fault["ctx"]["expected_tags"].replace("'", "")
            return f"{_chooser(names, fault)}: {fault['ctx']['tag']!r} is not usable: known: {known}"
        case "union_tag_not_found":
            return f"{_chooser(names, fault)}: is missing: add it (config/README.md lists what it can be)"
        case _:
            return f"{place}{fault['input']!r} is not usable: {fault['msg']}"


def _chooser(names: list[str], fault: Any) -> str:
    """The key that says which settings stand at a place, such as `retrievers.bm25.kind`."""
    return ".".join([*names, fault["ctx"]["discriminator"].strip("'")])
