// The figure that matters: what each group gained, in every cell of the grid, one row for a group and a panel for a task.
function heroRows() {
  const rows = inGroups().filter(passes);
  const keys = new Map();
  for (const row of rows) {
    const key = `${row.category}\n${row.group}`;
    if (!keys.has(key)) keys.set(key, []);
    keys.get(key).push(row);
  }
  return [...keys.values()].sort((a, b) => gridOrder(a[0], b[0]));
}
const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
const counts = (cells) => {
  const sizes = cells.map((row) => row.n);
  const low = Math.min(...sizes),
    high = Math.max(...sizes);
  return low === high ? String(low) : `${low}–${high}`;
};

function heroPanel(cells, on) {
  const few = cells.length <= 4;
  const spread = (i) => (few ? (HEIGHT * (i + 1)) / (cells.length + 1) : 6 + ((i * 7) % 11));
  const centre = mean(cells.map((row) => row.delta).filter(known));
  return strip(
    on,
    ...cells.map((row, i) => (few ? bar(on, row.delta_low, row.delta_high, spread(i), hue(row.retriever)) : null)),
    ...cells.map((row, i) =>
      dot(on, row.delta, spread(i), `${hue(row.retriever)}${few ? "" : " faint"}`, false, groupTip(row)),
    ),
    few && cells.length === 1
      ? null
      : mark(on, centre, "centre", `mean over ${cells.length} cells: ${number(centre, 1, true)}`),
  );
}

function heroLine(cells, tasks, scales, first) {
  const panels = tasks.flatMap((task) => {
    const here = cells.filter((row) => row.task === task);
    const centre = mean(here.map((row) => row.delta).filter(known));
    return [el("td", { class: "drawing" }, heroPanel(here, scales[task])), el("td", {}, number(centre, 1, true))];
  });
  const name = el("th", { scope: "row" }, el("b", {}, groupLabel(cells[0].group)));
  return el("tr", { class: first ? "first" : null }, name, el("td", {}, counts(cells)), ...panels);
}

function drawHero() {
  const groups = heroRows();
  const tasks = places("task").filter((task) => !chosen.task || task === chosen.task);
  const few = (task) => groups.some((cells) => cells.filter((row) => row.task === task).length <= 4);
  const values = (task) =>
    groups.flatMap((cells) =>
      cells
        .filter((row) => row.task === task)
        .flatMap((row) => (few(task) ? [row.delta, row.delta_low, row.delta_high] : [row.delta])),
    );
  const scales = Object.fromEntries(
    tasks.map((task) => [task, scale(values(task), narrow.matches ? 170 : tasks.length > 1 ? 385 : 640)]),
  );
  const body = el("tbody", {});
  let last = null;
  for (const cells of groups) {
    const category = cells[0].category;
    if (category !== last)
      body.append(
        el(
          "tr",
          { class: "category" },
          el("th", { scope: "rowgroup", colspan: 2 + 2 * tasks.length }, label("category", category)),
        ),
      );
    body.append(heroLine(cells, tasks, scales, category !== last));
    last = category;
  }
  const heads = tasks.flatMap((task) => [
    el(
      "th",
      { scope: "col", class: "drawing" },
      el("span", {}, `${short("task", task)}: gain in points`),
      axis(scales[task]),
    ),
    el("th", { scope: "col" }, "mean"),
  ]);
  const table = el(
    "table",
    { class: "drawn hero" },
    el(
      "caption",
      {},
      el(
        "span",
        {},
        "What RAG adds to each group's mean ROUGE-L × 100. A dot is one cell of topic, LLM and retriever, the upright mark their mean; n counts queries. Rows of up to four dots have their 95 % intervals: narrow the filters to see them.",
      ),
    ),
    el(
      "thead",
      {},
      el("tr", {}, el("th", { scope: "col", class: "name" }, "Group"), el("th", { scope: "col" }, "n"), ...heads),
    ),
    body,
  );
  byId("view-hero").replaceChildren(
    legend([...retrieverKeys(), ["centre line", "mean"]]),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Gain of each group" }, table),
  );
}
redraws.push(drawHero);
