"""Where a topic's documents and queries come from: only functions; the rules that use them are in dataset.smk."""

TREC = CONFIG.dataset.source == "trec-fair"
# Where ir_datasets' downloads are linked to, so that one reader reads them and files that are given.
TREC_LINKS = {name: f"{RESOURCES}/trec-fair-2022/{name}" for name in TREC_FILES}


def present(setting, path, made):
    """The path of a file that the settings name; an error that names the setting where the file is needed and missing."""
    # What is made already stays usable when the file that it was made from is gone.
    if not (Path(path).is_file() or Path(made).is_file()):
        raise WorkflowError(f"{setting}: there is no file {path}: correct the path")
    return path


def dataset_files(made):
    """The files of the source: the manifest of its asset, or corpus, metadata and topics."""
    if not TREC:
        return [manifest(CONFIG.dataset.asset)]
    if CONFIG.dataset.ir_datasets:
        return list(TREC_LINKS.values())
    named = {f"dataset.{name}": getattr(CONFIG.dataset, name) for name in TREC_FILES}
    return [present(setting, path, made) for setting, path in named.items()]


def topic_table(wildcards):
    """The counts of all topics, where the topic is selected by its size."""
    by_size = TREC and CONFIG.topics[wildcards.topic].select.startswith("largest")
    return [f"{RESULTS}/topics.csv"] if by_size else []


def query_ids(wildcards):
    """The file of the given queries, where they are not drawn."""
    if CONFIG.queries.ids is None:
        return []
    path = CONFIG.queries.ids.format(topic=wildcards.topic)
    return [
        present("queries.ids", path, f"{RESULTS}/{wildcards.topic}/queries.parquet")
    ]
