# By the LLM itself it needs that, and its prompts; by another model it is work for a GPU as well; by words alone it is as
# light as the measures that follow.
BY_LLM = CONFIG.attribution.kind == "likelihood"
NEEDS_MODEL = hasattr(CONFIG.attribution, "model")


if BY_LLM:

    rule attribute_by_model:
        input:
            corpus=f"{RESULTS}/{POOL}/corpus.parquet",
            requests=f"{RESULTS}/{{topic}}/{{task}}/requests.parquet",
            answers=shards,
            templates=TEMPLATES,
            model=lambda w: manifest(CONFIG.llms[w.llm].model),
            code=code("attribute_by_likelihood"),
        output:
            attributions=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/attributions.parquet",
        log:
            f"{LOGS}/attribute/{{topic}}/{{task}}/{{llm}}.log",
        priority: longest_first
        group:
            "attribution"
        conda:
            "../../envs/whobenefits.yaml"
        threads: share_of_cores("topics", "tasks", "llms", memory=llm_memory)
        resources:
            mem_mb=llm_memory,
            runtime=grows(120),
            gpu=lambda w: CONFIG.llms[w.llm].gpus,
        params:
            attribution=CONFIG.attribution.model_dump(),
            llm=lambda w: CONFIG.engine(w.llm),
            max_new_tokens=lambda w: CONFIG.tasks[w.task].max_new_tokens,
            store=lambda w: f"{RESULTS}/store/attributions/{w.llm}",
        script:
            "../scripts/attribute_by_likelihood.py"

else:

    rule:
        name:
            "attribute_by_model" if NEEDS_MODEL else "attribute"
        input:
            corpus=f"{RESULTS}/{POOL}/corpus.parquet",
            requests=f"{RESULTS}/{{topic}}/{{task}}/requests.parquet",
            # The shards, not the table that is gathered from them: that is made in one job with the measures, which wait.
            answers=shards,
            model=model_of(CONFIG.attribution),
            code=code("attribute", f"whobenefits.attribution.{CONFIG.attribution.kind}"),
        output:
            attributions=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/attributions.parquet",
        log:
            f"{LOGS}/attribute/{{topic}}/{{task}}/{{llm}}.log",
        group:
            "attribution" if NEEDS_MODEL else "measuring"
        conda:
            "../../envs/whobenefits.yaml"
        resources:
            mem_mb=grows(12000 if NEEDS_MODEL else 1000),
            runtime=grows(120 if NEEDS_MODEL else 10),
            gpu=int(NEEDS_MODEL),
        params:
            attribution=CONFIG.attribution.model_dump(),
            store=f"{RESULTS}/store/attributions",
        script:
            "../scripts/attribute.py"
