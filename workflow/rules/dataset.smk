rule prepare_dataset:
    input:
        data=manifest(CONFIG.dataset.asset),
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
        mem_mb=2000,
    params:
        topic=lambda w: {"slug": w.topic} | CONFIG.topics[w.topic].model_dump(),
        dataset=CONFIG.dataset.model_dump(),
        cells=CONFIG.queries.cells,
        seed=CONFIG.seed,
        max_queries=CONFIG.queries.max_queries,
    script:
        "../scripts/prepare_dataset.py"
