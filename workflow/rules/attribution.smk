rule attribute:
    input:
        corpus=f"{RESULTS}/{{topic}}/corpus.parquet",
        requests=f"{RESULTS}/{{topic}}/{{task}}/requests.parquet",
        answers=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/answers.parquet",
        model=model_of(CONFIG.attribution),
        code=code("attribute", f"whobenefits.attribution.{CONFIG.attribution.kind}"),
    output:
        attributions=f"{RESULTS}/{{topic}}/{{task}}/{{llm}}/attributions.parquet",
    log:
        f"{LOGS}/attribute/{{topic}}/{{task}}/{{llm}}.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=2000,
    params:
        attribution=CONFIG.attribution.model_dump(),
    script:
        "../scripts/attribute.py"
