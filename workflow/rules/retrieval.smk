def retriever_code(script):
    """The script's code and that of the retriever's own module, which the script takes by its kind."""
    return lambda w: code(script, f"whobenefits.retrieval.{CONFIG.retrievers[w.retriever].kind}")


def given_run(wildcards):
    """The TREC run file that stands in for a retriever, if one does."""
    path = getattr(CONFIG.retrievers[wildcards.retriever], "path", None)
    return [path.format(topic=wildcards.topic, task=wildcards.task)] if path else []


rule build_index:
    input:
        corpus=f"{RESULTS}/{{topic}}/corpus.parquet",
        model=lambda w: model_of(CONFIG.retrievers[w.retriever]),
        code=retriever_code("build_index"),
    output:
        index=directory(f"{RESULTS}/{{topic}}/index/{{retriever}}"),
    log:
        f"{LOGS}/build_index/{{topic}}/{{retriever}}.log",
    params:
        retriever=lambda w: CONFIG.retrievers[w.retriever].indexed(),
    threads: 8
    resources:
        mem_mb=4000,
    conda:
        "../../envs/whobenefits.yaml"
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
    params:
        retriever=lambda w: CONFIG.retrievers[w.retriever].searched(),
        depth=CONFIG.retrieval.depth,
    threads: 8
    resources:
        mem_mb=4000,
    conda:
        "../../envs/whobenefits.yaml"
    script:
        "../scripts/retrieve.py"
