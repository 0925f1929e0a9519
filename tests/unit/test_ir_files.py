import subprocess
import sys
from pathlib import Path

import pytest

from whobenefits.code import LIB

FILES = {
    "corpus": "trec_corpus_20220301_plain.json.gz",
    "metadata": "trec_2022_articles_discrete.json.gz",
    "topics": "trec_2022_train_reldocs.jsonl",
}
CODE = """
import sys
from whobenefits.datasets.ir_files import link_files
from whobenefits.errors import DataError
try:
    link_files({name: f"{sys.argv[1]}/links/{name}" for name in ("corpus", "metadata", "topics")})
except DataError as error:
    print(error)
"""


@pytest.fixture
def home(tmp_path):
    """The package's home folder with the three files as it keeps them."""
    folder = tmp_path / "home/trec-fair/2022"
    folder.mkdir(parents=True)
    for name, file in FILES.items():
        (folder / file).write_text(name)
    return folder


def linked(tmp_path: Path, before: str = "") -> str:
    """What a process of its own prints: the package reads its home folder when it is imported."""
    # A proxy that refuses: the test asks no network, also where there is one.
    proxies = dict.fromkeys(("https_proxy", "http_proxy"), "http://127.0.0.1:9")
    settings = {"IR_DATASETS_HOME": f"{tmp_path}/home", "IR_DATASETS_DL_TRIES": "1", "PYTHONPATH": str(LIB)}
    command = [sys.executable, "-c", before + CODE, str(tmp_path)]
    done = subprocess.run(command, env=settings | proxies, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_packages_own_downloads_are_linked_and_links_are_made_anew(tmp_path, home):
    for _ in range(2):
        assert linked(tmp_path) == ""
        assert {name: (tmp_path / "links" / name).read_text() for name in FILES} == {name: name for name in FILES}
    assert (tmp_path / "links/corpus").resolve() == home / FILES["corpus"]


def test_a_file_that_cannot_be_had_is_named_with_the_place_where_it_can_be_put(tmp_path, home):
    (home / FILES["topics"]).unlink()
    message = linked(tmp_path)
    assert message.startswith("dataset.ir_datasets: https://")
    assert "could not be had (" in message and f"put the file at {home / FILES['topics']}, or give the paths" in message


def test_a_missing_package_is_named_with_a_remedy(tmp_path):
    message = linked(tmp_path, "import sys; sys.modules['ir_datasets'] = None\n")
    assert message.startswith("dataset.ir_datasets: the package ir-datasets is not usable")
    assert "install it, or give the paths dataset.corpus, dataset.metadata and dataset.topics" in message
