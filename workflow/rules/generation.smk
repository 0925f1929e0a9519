RUNS = expand(
    f"{RESULTS}/{{{{topic}}}}/{{{{task}}}}/runs/{{retriever}}.parquet",
    retriever=GRID.retrievers,
)
PROMPTS = relpath(f"{workflow.basedir}/config/prompts/{CONFIG.prompts}")
TEMPLATES = expand(f"{PROMPTS}/{{{{task}}}}.{{setting}}.txt", setting=SETTINGS)


rule plan_requests:
    input:
        queries=f"{RESULTS}/{{topic}}/queries.parquet",
        runs=RUNS,
        templates=TEMPLATES,
        code=code("plan_requests"),
    output:
        requests=f"{RESULTS}/{{topic}}/{{task}}/requests.parquet",
    log:
        f"{LOGS}/plan_requests/{{topic}}/{{task}}.log",
    priority: BEFORE_LLMS
    group:
        "retrieval"
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    params:
        retrievers=GRID.retrievers,
        context_size=CONFIG.retrieval.context_size,
        context_order=CONFIG.retrieval.context_order,
    script:
        "../scripts/plan_requests.py"


rule generate:
    input:
        requests=f"{RESULTS}/{{topic}}/{{task}}/requests.parquet",
        corpus=f"{RESULTS}/{POOL}/corpus.parquet",
        templates=TEMPLATES,
        model=lambda w: manifest(CONFIG.llms[w.llm].model),
        code=code("generate"),
    output:
        answers=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/shards/{{shard}}.parquet",
    log:
        f"{LOGS}/generate/{{topic}}/{{task}}/{{llm}}/{{shard}}.log",
    priority: longest_first
    conda:
        "../../envs/whobenefits.yaml"
    threads: share_of_cores("topics", "tasks", "llms", memory=llm_memory)
    resources:
        mem_mb=llm_memory,
        runtime=grows(30 + 2 * CONFIG.generation.target_minutes),
        gpu=lambda w: CONFIG.llms[w.llm].gpus,
    params:
        decoding=lambda w: CONFIG.tasks[w.task].model_dump(),
        llm=lambda w: CONFIG.engine(w.llm),
        store=lambda w: f"{RESULTS}/store/answers/{w.llm}",
    script:
        "../scripts/generate.py"


rule gather_answers:
    input:
        shards=shards,
        code=code("gather_answers"),
    output:
        answers=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/answers.parquet",
    log:
        f"{LOGS}/gather_answers/{{topic}}/{{task}}/{{llm}}.log",
    group:
        "measuring"
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    script:
        "../scripts/gather_answers.py"


rule score_answers:
    input:
        queries=f"{RESULTS}/{{topic}}/queries.parquet",
        corpus=f"{RESULTS}/{POOL}/corpus.parquet",
        requests=f"{RESULTS}/{{topic}}/{{task}}/requests.parquet",
        answers=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/answers.parquet",
        code=code("score_answers"),
    output:
        scores=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/scores.parquet",
    log:
        f"{LOGS}/score_answers/{{topic}}/{{task}}/{{llm}}.log",
    group:
        "measuring"
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        scoring=CONFIG.scoring.model_dump(),
    script:
        "../scripts/score_answers.py"
