rule build_index:
    input:
        corpus=f"{RESULTS}/{{topic}}/corpus.parquet",
        model=lambda w: model_of(CONFIG.retrievers[w.retriever]),
        code=retriever_code("build_index"),
    output:
        index=directory(f"{RESULTS}/{{topic}}/index/{{retriever}}"),
    log:
        f"{LOGS}/build_index/{{topic}}/{{retriever}}.log",
    conda:
        "../../envs/whobenefits.yaml"
    threads: 8
    resources:
        mem_mb=4000,
    params:
        retriever=lambda w: CONFIG.retrievers[w.retriever].indexed(),
    script:
        "../scripts/build_index.py"


rule retrieve:
    input:
        corpus=f"{RESULTS}/{{topic}}/corpus.parquet",
        queries=f"{RESULTS}/{{topic}}/queries.parquet",
        index=f"{RESULTS}/{{topic}}/index/{{retriever}}",
        model=lambda w: model_of(CONFIG.retrievers[w.retriever]),
        given=given_run,
        code=retriever_code("retrieve"),
    output:
        run=f"{RESULTS}/{{topic}}/{{task}}/runs/{{retriever}}.parquet",
        trec=f"{RESULTS}/{{topic}}/{{task}}/runs/{{retriever}}.trec",
    log:
        f"{LOGS}/retrieve/{{topic}}/{{task}}/{{retriever}}.log",
    conda:
        "../../envs/whobenefits.yaml"
    threads: 8
    resources:
        mem_mb=4000,
    params:
        retriever=lambda w: CONFIG.retrievers[w.retriever].searched(),
        depth=CONFIG.retrieval.depth,
    script:
        "../scripts/retrieve.py"
