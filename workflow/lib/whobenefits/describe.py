"""What people read of the settings: labels in the grid's order, and an account of the run. Imports nothing heavy."""

from typing import Any

from whobenefits.categories import categories_of
from whobenefits.settings.study import Config

TASK_LABELS = {"article": "Article generation", "title": "Title generation"}


def grid_categories(config: Config) -> dict[str, list[str]]:
    """The groups, in their order, of each reported category."""
    known = categories_of(config.dataset.model_dump())
    return {name: list(known[name].groups) for name in config.grid.categories}


def labels_of(config: Config) -> dict[str, dict[str, Any]]:
    """Labels of topics, tasks, retrievers, LLMs and categories, in the grid's order."""
    known = categories_of(config.dataset.model_dump())
    return {
        "topics": {name: config.topics[name].label for name in config.grid.topics},
        "tasks": {name: TASK_LABELS[name] for name in config.grid.tasks},
        "retrievers": {name: config.retrievers[name].label for name in config.grid.retrievers},
        "llms": {name: config.llms[name].label for name in config.grid.llms},
        "categories": {
            name: {
                "label": known[name].label,
                "short": known[name].short,
                "groups": list(known[name].groups),
                "note": known[name].note,
            }
            for name in config.grid.categories
        },
    }


def about_of(config: Config) -> dict[str, Any]:
    """What was run, as plain data: all that changes a number, and where models and data come from."""
    grid = config.grid
    return {
        "name": config.name,
        "seed": config.seed,
        "prompts": config.prompts,
        "dataset": config.dataset.model_dump(),
        "queries": config.queries.model_dump(),
        "retrieval": config.retrieval.model_dump(),
        "retrievers": {name: config.retrievers[name].model_dump() for name in grid.retrievers},
        "llms": {name: _llm(config, name) for name in grid.llms},
        "tasks": {name: config.tasks[name].model_dump() for name in grid.tasks},
        "scoring": config.scoring.model_dump(),
        "measures": config.measures.model_dump(),
        "uncertainty": config.uncertainty.model_dump(),
        "attribution": config.attribution.model_dump()
        | {"description": type(config.attribution).model_fields["kind"].description},
        "assets": {name: config.assets[name].model_dump() for name in used_assets(config)},
    }


def _llm(config: Config, name: str) -> dict[str, Any]:
    llm = config.llms[name]
    return {"label": llm.label, "model": llm.model} | config.engine(name)


def used_assets(config: Config) -> list[str]:
    """Names of the assets that the grid needs, in the order of the settings."""
    grid = config.grid
    parts = [config.dataset, config.attribution]
    parts += [config.retrievers[name] for name in grid.retrievers] + [config.llms[name] for name in grid.llms]
    names = {getattr(part, "asset", None) or getattr(part, "model", None) for part in parts}
    return [name for name in config.assets if name in names]
