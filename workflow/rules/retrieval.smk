rule unite_topics:
    input:
        corpora=expand(f"{RESULTS}/{{topic}}/corpus.parquet", topic=GRID.topics),
        groups=expand(f"{RESULTS}/{{topic}}/groups.parquet", topic=GRID.topics),
        code=code("unite_topics"),
    output:
        corpus=f"{RESULTS}/_union/corpus.parquet",
        groups=f"{RESULTS}/_union/groups.parquet",
    log:
        f"{LOGS}/unite_topics.log",
    priority: BEFORE_LLMS
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(8000),
        runtime=grows(30),
    params:
        topics=GRID.topics,
    script:
        "../scripts/unite_topics.py"


rule build_index:
    input:
        corpus=f"{RESULTS}/{POOL}/corpus.parquet",
        model=lambda w: model_of(CONFIG.retrievers[w.retriever]),
        code=retriever_code("build_index"),
    output:
        index=directory(f"{RESULTS}/{POOL}/index/{{retriever}}"),
    log:
        f"{LOGS}/build_index/{POOL}/{{retriever}}.log",
    priority: BEFORE_LLMS
    conda:
        "../../envs/whobenefits.yaml"
    threads: share_of_cores("topics", "retrievers", memory=grows(8000))
    resources:
        mem_mb=grows(8000),
        runtime=grows(60),
    params:
        retriever=lambda w: CONFIG.retrievers[w.retriever].indexed(),
    script:
        "../scripts/build_index.py"


use rule build_index as encode_corpus with:
    wildcard_constraints:
        retriever="|".join(map(re.escape, ENCODERS)) or "(?!)",
    priority: BEFORE_LLMS
    threads: share_of_cores("topics", "retrievers", memory=grows(12000))
    resources:
        mem_mb=grows(12000),
        runtime=grows(120),
        gpu=1,


ruleorder: encode_corpus > build_index


rule retrieve:
    input:
        corpus=f"{RESULTS}/{POOL}/corpus.parquet",
        queries=f"{RESULTS}/{{topic}}/queries.parquet",
        index=f"{RESULTS}/{POOL}/index/{{retriever}}",
        model=lambda w: model_of(CONFIG.retrievers[w.retriever]),
        given=given_run,
        code=retriever_code("retrieve"),
    output:
        run=f"{RESULTS}/{{topic}}/{{task}}/runs/{{retriever}}.parquet",
        trec=f"{RESULTS}/{{topic}}/{{task}}/runs/{{retriever}}.trec",
    log:
        f"{LOGS}/retrieve/{{topic}}/{{task}}/{{retriever}}.log",
    priority: BEFORE_LLMS
    group:
        "retrieval"
    conda:
        "../../envs/whobenefits.yaml"
    threads: share_of_cores("topics", "tasks", "retrievers", memory=grows(6000), most=4)
    resources:
        mem_mb=grows(6000),
        runtime=grows(60),
    params:
        retriever=lambda w: CONFIG.retrievers[w.retriever].searched(),
        depth=CONFIG.retrieval.depth,
    script:
        "../scripts/retrieve.py"
