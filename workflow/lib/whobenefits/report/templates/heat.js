// Correlations as a map: rows are categories and factors, columns topics, tasks and LLMs.
function heatColour(value) {
  const strength = Math.round(Math.min(1, Math.abs(value)) * 100);
  return `color-mix(in srgb, var(${value < 0 ? "--cold" : "--warm"}) ${strength}%, var(--middle))`;
}
function heatCell(row) {
  if (!row) return el("td", { class: "undefined" }, UNDEFINED);
  if (!known(row.value)) return el("td", { class: "undefined", tabindex: 0, "data-tip": rhoTip(row) }, UNDEFINED);
  const strong = Math.abs(row.value) > 0.6;
  return el(
    "td",
    {
      tabindex: 0,
      class: strong ? "strong" : null,
      style: `background: ${heatColour(row.value)}`,
      "data-tip": rhoTip(row),
    },
    number(row.value, 2),
    significant(row) ? el("b", {}, "*") : "",
    el(
      "small",
      {},
      `n=${row.n}` +
        (row.retriever === "mean" && row.n_retrievers < places("retriever").length ? `, ${row.n_retrievers}r` : ""),
    ),
  );
}
function heatTable(outcome) {
  const retriever = chosen.retriever || "mean";
  const cells = places("topic")
    .flatMap((topic) => places("task").flatMap((task) => places("llm").map((llm) => ({ topic, task, llm }))))
    .filter(passes);
  const rows = new Map(
    TABLES.correlations
      .filter((row) => row.outcome === outcome && row.retriever === retriever)
      .map((row) => [[row.topic, row.task, row.llm, row.category, row.factor].join("\n"), row]),
  );
  const body = places("category")
    .filter((category) => !chosen.category || chosen.category === category)
    .map((category) =>
      el(
        "tbody",
        {},
        ...Object.keys(FACTORS).map((factor, i) =>
          el(
            "tr",
            {},
            i === 0 ? el("th", { scope: "rowgroup", rowspan: 3 }, label("category", category)) : "",
            el("th", { scope: "row" }, FACTORS[factor]),
            ...cells.map((cell) => heatCell(rows.get([cell.topic, cell.task, cell.llm, category, factor].join("\n")))),
          ),
        ),
      ),
    );
  const title = (cell) =>
    ["topic", "task", "llm"]
      .filter(varies)
      .map((kind) => short(kind, cell[kind]))
      .join(" · ") || label("llm", cell.llm);
  const heads = cells.map((cell) => el("th", { scope: "col" }, title(cell)));
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `Correlations with ${OUTCOMES[outcome]}` },
    el(
      "table",
      { class: "heat" },
      el(
        "caption",
        {},
        el(
          "span",
          {},
          `ρ with the groups' ${OUTCOMES[outcome]}, ${retriever === "mean" ? "mean of the retrievers at which it is defined" : label("retriever", retriever)}.`,
        ),
      ),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "col", class: "name" }, "Category"),
          el("th", { scope: "col", class: "name" }, "Factor"),
          ...heads,
        ),
      ),
      ...body,
    ),
  );
}
function drawHeat() {
  byId("view-heat").replaceChildren(
    legend([
      ["cold", "ρ = −1"],
      ["middle", "0"],
      ["warm", "+1"],
      ["undefined", "undefined"],
    ]),
    heatTable("delta"),
    heatTable("ac_rag"),
  );
}
redraws.push(drawHeat);
