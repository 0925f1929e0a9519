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


rule prepare_dataset:
    input:
        data=lambda w: dataset_files(f"{RESULTS}/{w.topic}/corpus.parquet"),
        counts=topic_table,
        ids=query_ids,
        code=code("prepare_dataset"),
    output:
        corpus=f"{RESULTS}/{{topic}}/corpus.parquet",
        groups=f"{RESULTS}/{{topic}}/groups.parquet",
        queries=f"{RESULTS}/{{topic}}/queries.parquet",
        summary=f"{RESULTS}/{{topic}}/dataset.csv",
    log:
        f"{LOGS}/prepare_dataset/{{topic}}.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(6000 if TREC else 2000),
        runtime=grows(60),
    params:
        topic=lambda w: {"slug": w.topic} | CONFIG.topics[w.topic].model_dump(),
        dataset=CONFIG.dataset.prepared(),
        cells=CONFIG.queries.cells,
        seed=CONFIG.seed,
        max_queries=CONFIG.queries.max_queries,
    script:
        "../scripts/prepare_dataset.py"


if TREC:

    localrules:
        fetch_trec_fair,

    rule count_topics:
        input:
            data=lambda w: dataset_files(f"{RESULTS}/topics.csv"),
            code=code("count_topics"),
        output:
            topics=f"{RESULTS}/topics.csv",
        log:
            f"{LOGS}/count_topics.log",
        conda:
            "../../envs/whobenefits.yaml"
        resources:
            mem_mb=grows(6000),
            runtime=grows(60),
        params:
            dataset=CONFIG.dataset.prepared(),
            cells=CONFIG.queries.cells,
        script:
            "../scripts/count_topics.py"

    rule fetch_trec_fair:
        input:
            code=code("fetch_trec_fair"),
        output:
            **TREC_LINKS,
        log:
            f"{LOGS}/fetch_trec_fair.log",
        conda:
            "../../envs/whobenefits.yaml"
        resources:
            mem_mb=1000,
        script:
            "../scripts/fetch_trec_fair.py"
