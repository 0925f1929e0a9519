"""The TREC 2022 Fair Ranking track's files as the package ir_datasets downloads, checks and keeps them."""

from pathlib import Path

from whobenefits.errors import DataError

# Names of the downloads in the package's own list. Its document store is not used: it would copy all documents once
# more, in a form of its own.
DOWNLOADS = {"corpus": "2022/docs", "metadata": "2022/metadata", "topics": "2022/train/topics"}


def fetch_files() -> dict[str, Path]:
    """Paths of the corpus, the metadata and the topics in the folder IR_DATASETS_HOME, downloaded if they are not there.

    The package compares what it downloads with its MD5. Raises DataError, with the package's own words, where it is
    not installed, or where a file cannot be had.
    """
    try:
        # Imported here: it is needed for this only, and it makes its home folder when it is imported.
        from ir_datasets.util import DownloadConfig, home_path
        from ir_datasets.util.hash import HashVerificationError
    except ImportError as error:
        raise DataError(
            f"dataset.ir_datasets: the package ir-datasets is not usable ({error}): install it, or give the paths "
            "dataset.corpus, dataset.metadata and dataset.topics"
        ) from None
    home = home_path() / "trec-fair"
    downloads = DownloadConfig.context("trec-fair", home)
    paths = {}
    for name, download in DOWNLOADS.items():
        try:
            paths[name] = Path(downloads[download].path())
        except (OSError, RuntimeError, HashVerificationError) as error:
            raise DataError(
                f"dataset.ir_datasets: {downloads.contents()[download]['url']} could not be had ({error}): check network "
                f"and disk, or put the file at {downloads[download].path(force=False)}, or give the paths dataset.corpus, "
                "dataset.metadata and dataset.topics"
            ) from None
    return paths


def link_files(targets: dict[str, str | Path]) -> None:
    """Make each target, by the name of the file, a link to the file that ir_datasets keeps. Raises as fetch_files does."""
    for name, path in fetch_files().items():
        target = Path(targets[name])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.symlink_to(path.absolute())
