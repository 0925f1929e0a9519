localrules:
    fetch_asset,


rule fetch_asset:
    input:
        code=code("fetch_asset"),
    output:
        manifest=f"{RESOURCES}/{{asset}}/asset.json",
    log:
        f"{LOGS}/fetch_asset/{{asset}}.log",
    params:
        asset=lambda w: CONFIG.assets[w.asset].model_dump(),
    resources:
        mem_mb=4000,
    conda:
        "../../envs/whobenefits.yaml"
    script:
        "../scripts/fetch_asset.py"
