localrules:
    aggregate,


rule measure_queries:
    input:
        requests=f"{RESULTS}/{{topic}}/{{task}}/requests.parquet",
        scores=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/scores.parquet",
        attributions=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/attributions.parquet",
        runs=RUNS,
        code=code("measure_queries"),
    output:
        outcomes=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/outcomes.parquet",
        factors=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/factors.parquet",
    log:
        f"{LOGS}/measure_queries/{{topic}}/{{task}}/{{llm}}.log",
    group:
        "measuring"
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    params:
        retrievers=GRID.retrievers,
        cell=lambda w: {"topic": w.topic, "task": w.task, "llm": w.llm},
        context_size=CONFIG.retrieval.context_size,
    script:
        "../scripts/measure_queries.py"


rule measure_groups:
    input:
        outcomes=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/outcomes.parquet",
        factors=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/factors.parquet",
        groups=f"{RESULTS}/{POOL}/groups.parquet",
        queries=f"{RESULTS}/{{topic}}/queries.parquet",
        code=code("measure_groups"),
    output:
        measures=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/measures.parquet",
    log:
        f"{LOGS}/measure_groups/{{topic}}/{{task}}/{{llm}}.log",
    group:
        "measuring"
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    params:
        categories=grid_categories(CONFIG),
        rules=CONFIG.measures.model_dump(),
    script:
        "../scripts/measure_groups.py"


rule aggregate:
    input:
        measures=cells("{topic}/{task}/{llm}/measures.parquet"),
        code=code("aggregate"),
    output:
        measures=f"{RESULTS}/measures.parquet",
        measures_csv=f"{RESULTS}/measures.csv",
        ranges=f"{RESULTS}/ranges.parquet",
        ranges_csv=f"{RESULTS}/ranges.csv",
        correlations=f"{RESULTS}/correlations.parquet",
        correlations_csv=f"{RESULTS}/correlations.csv",
    log:
        f"{LOGS}/aggregate.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        categories=grid_categories(CONFIG),
    script:
        "../scripts/aggregate.py"
