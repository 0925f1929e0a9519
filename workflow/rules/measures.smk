# The tables of uncertainty of one topic, task and LLM, and the tables of the whole grid.
UNCERTAINTY = [
    *("intervals", "range_tests", "correlation_tests"),
    *("unevenness", "query_correlations", "query_regressions"),
]
GRID_TABLES = ["measures", "ranges", "correlations", *UNCERTAINTY[3:]]
CELL = f"{RESULTS}/{{topic}}/{{task}}/{{llm}}"


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


rule measure_uncertainty:
    input:
        outcomes=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/outcomes.parquet",
        factors=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/factors.parquet",
        groups=f"{RESULTS}/{POOL}/groups.parquet",
        code=code("measure_uncertainty"),
    output:
        **{name: f"{CELL}/uncertainty/{name}.parquet" for name in UNCERTAINTY},
    log:
        f"{LOGS}/measure_uncertainty/{{topic}}/{{task}}/{{llm}}.log",
    group:
        "measuring"
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        categories=grid_categories(CONFIG),
        seed=CONFIG.seed,
        rules=CONFIG.uncertainty.model_dump(),
    script:
        "../scripts/measure_uncertainty.py"


rule aggregate:
    input:
        **{
            name: cells(f"{{topic}}/{{task}}/{{llm}}/uncertainty/{name}.parquet")
            for name in UNCERTAINTY
        },
        measures=cells("{topic}/{task}/{llm}/measures.parquet"),
        code=code("aggregate"),
    output:
        **{name: f"{RESULTS}/{name}.parquet" for name in GRID_TABLES},
        **{f"{name}_csv": f"{RESULTS}/{name}.csv" for name in GRID_TABLES},
    log:
        f"{LOGS}/aggregate.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(30),
    params:
        categories=grid_categories(CONFIG),
        empty_groups=CONFIG.measures.empty_groups,
    script:
        "../scripts/aggregate.py"
