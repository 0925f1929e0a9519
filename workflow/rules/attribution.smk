# By a model it is work for a GPU; by words alone it is as light as the measures that follow.
NEEDS_MODEL = hasattr(CONFIG.attribution, "model")


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
