# Beside Snakemake itself, not as a job of a cluster: compute nodes often have no network.
localrules:
    fetch_asset,


rule fetch_asset:
    input:
        code=code("fetch_asset"),
    output:
        # update: what was fetched is kept when the rule runs again, and only checked.
        manifest=update(f"{RESOURCES}/{{asset}}/asset.json"),
    log:
        f"{LOGS}/fetch_asset/{{asset}}.log",
    priority: BEFORE_LLMS
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=4000,
    params:
        asset=lambda w: CONFIG.assets[w.asset].model_dump(),
    script:
        "../scripts/fetch_asset.py"
