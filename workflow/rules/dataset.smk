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
    priority: BEFORE_LLMS
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
        priority: BEFORE_LLMS
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
        priority: BEFORE_LLMS
        conda:
            "../../envs/whobenefits.yaml"
        resources:
            mem_mb=1000,
        script:
            "../scripts/fetch_trec_fair.py"
