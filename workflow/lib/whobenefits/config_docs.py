"""The tables of config/README.md, made from the settings' models. `make docs` writes them, a test compares them."""

import re
import types
import typing

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from whobenefits.settings.study import PROMPTS, Config

README = PROMPTS.parent / "README.md"
MARKS = ("<!-- settings: made by `make docs` -->", "<!-- end of the settings -->")


def settings_tables() -> str:
    """One table of keys for each group of settings, in the order of the models."""
    return "\n".join(_table(name, model) for name, model in _models("", Config))


def write_readme() -> None:
    """Put the tables between the marks of config/README.md."""
    text = README.read_text(encoding="utf-8")
    before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
    README.write_text(f"{before}{MARKS[0]}\n{settings_tables()}\n{MARKS[1]}{after}", encoding="utf-8")


def _models(place: str, model: type[BaseModel]) -> list[tuple[str, type[BaseModel]]]:
    found = [(place, model)]
    for name, field in model.model_fields.items():
        inner = f"{place}.{name}".lstrip(".") + (".NAME" if "dict[" in str(field.annotation) else "")
        for part in _parts(field.annotation):
            found += _models(inner, part)
    return found


def _parts(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [model for part in typing.get_args(annotation) for model in _parts(part)]


def _table(place: str, model: type[BaseModel]) -> str:
    rows = [_row(name, field) for name, field in model.model_fields.items()]
    heading = f"`{place}`: {(model.__doc__ or '').strip()}" if place else "The top level"
    return "\n".join([f"### {heading}", "", "| key | type | default | effect |", "|---|---|---|---|", *rows, ""])


def _row(name: str, field: FieldInfo) -> str:
    default = "required" if field.default is PydanticUndefined else _shown(field.default)
    return f"| `{name}` | {_type(field)} | {default} | {field.description} |"


def _shown(default: object) -> str:
    if isinstance(default, BaseModel):
        return "see below"
    if default == "":
        return "empty"
    # As YAML writes them. `is`, because 1 == True.
    words = [word for value, word in ((None, "null"), (True, "true"), (False, "false")) if default is value]
    return f"`{words[0] if words else default}`"


def _type(field: FieldInfo) -> str:
    """A type as a person reads it, with the limits of a number."""
    text = _named(field.annotation)
    limits = [re.sub(r"\w+\((\w+)=(.*)\)", r"\1 \2", repr(limit)) for limit in field.metadata]
    words = {"ge ": "≥ ", "le ": "≤ ", "gt ": "> "}
    limits = [words[limit[:3]] + limit[3:] for limit in limits if limit[:3] in words]
    return " ".join([text, ", ".join(limits)]).strip()


def _named(annotation: object) -> str:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in args)
    if origin is typing.Annotated:
        return _named(args[0])
    if origin is list:
        return f"list of {_named(args[0])}"
    if origin is dict:
        return f"mapping of {_named(args[0])} to {_named(args[1])}"
    if args:
        return " or ".join(dict.fromkeys(_named(part) for part in args))
    plain = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "null"}
    return plain.get(annotation, "settings")


if __name__ == "__main__":
    write_readme()
