"""Fetch one model or data set into the resources folder."""

from pathlib import Path

from whobenefits.assets import fetch_asset
from whobenefits.logs import log_to
from whobenefits.settings.assets import Asset


def main(manifest: str, name: str, asset: dict) -> None:
    """Fetch the asset into the folder of its manifest, which is written last."""
    fetch_asset(name, Asset.model_validate(asset), Path(manifest).parent)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            manifest=snakemake.output.manifest,
            name=snakemake.wildcards.asset,
            asset=snakemake.params.asset,
        )
