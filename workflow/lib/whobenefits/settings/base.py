"""What all settings share: their base, their names, their limits. Imports nothing heavy."""

import difflib
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

SLUG = re.compile(r"[a-z0-9][a-z0-9.-]*")


def checked_slug(name: str) -> str:
    """The name, if it can stand in a path and in a table, where none, mean and all have a meaning of their own."""
    if not SLUG.fullmatch(name) or name in ("none", "mean", "all"):
        raise PydanticCustomError(
            "own",
            "{name} is not a usable name: use a-z, 0-9, . and -, and not none, mean or all",
            {"name": repr(name)},
        )
    return name


Slug = Annotated[str, AfterValidator(checked_slug)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]


def nearest(name: str, known: Any) -> str:
    """A hint that names the nearest of the known names, or lists them all."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"


class Settings(BaseModel):
    """Base of all settings: no unknown key, no silent conversion, no change after the check."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        known = {field.alias or name for name, field in cls.model_fields.items()}
        for key in data if isinstance(data, dict) else ():
            if key not in known:
                raise PydanticCustomError(
                    "own", "unknown key {key}: {hint}", {"key": repr(key), "hint": nearest(str(key), known)}
                )
        return data


def checked_path(path: str, known: tuple[str, ...] = ("{topic}", "{task}")) -> str:
    """The path, if it has no placeholder but the known ones."""
    unknown = set(re.findall(r"\{.*?\}", path)) - set(known)
    if unknown:
        message = "{path} is not usable: {unknown} stands for nothing, only {known} do"
        raise PydanticCustomError(
            "own",
            message,
            {"path": repr(path), "unknown": ", ".join(sorted(unknown)), "known": " and ".join(known)},
        )
    return path
