// Tables that are figures too: sortable, filtered by the bar, with a drawing in each row, and to be had as CSV.
const FIRST = 30;

// What names a row: its category and group in front, and below what the filters leave open.
function where(row) {
  const main = [row.category === undefined ? "" : label("category", row.category)];
  if (row.group !== undefined && row.group !== "all") main.push(groupLabel(row.group));
  const rest = ["topic", "task", "llm", "retriever"]
    .filter((kind) => kind in row && varies(kind))
    .map((kind) => short(kind, row[kind]));
  return { main: main.filter(Boolean).join(": "), rest: rest.join(" · ") };
}
const whereText = (row) => {
  const names = ["topic", "task", "llm", "retriever"]
    .filter((kind) => kind in row)
    .map((kind) => label(kind, row[kind]));
  return [where(row).main, ...names].filter(Boolean).join(", ");
};
function compared(a, b) {
  if (!known(a) || !known(b)) return known(a) ? -1 : known(b) ? 1 : 0;
  return typeof a === "string" ? a.localeCompare(b) : a - b;
}

function tableView(view) {
  const host = byId(view.id);
  const state = { sort: null, down: false, all: false, local: {} };
  for (const option of view.local || []) state.local[option.key] = option.start;
  function rows() {
    const kept = view
      .rows()
      .filter(passes)
      .filter((row) => Object.entries(state.local).every(([key, value]) => !value || row[key] === value));
    const sorted = kept.sort(view.order || gridOrder);
    const column = view.columns.find((one) => one.key === state.sort);
    if (!column) return sorted;
    const get = (row) => (column.get ? column.get(row) : row[column.key]);
    // The undefined stays last, in whichever direction.
    return sorted
      .map((row) => [get(row), row])
      .sort(([a], [b]) => (known(a) && known(b) && state.down ? -compared(a, b) : compared(a, b)))
      .map(([, row]) => row);
  }
  function sortBy(key) {
    state.down =
      state.sort === key ? !state.down : view.columns.find((column) => column.key === key).text === undefined;
    state.sort = key;
    draw();
    host.querySelector(`[data-key="${key}"]`).focus();
  }
  function head(on) {
    const sorted = (column) => (state.sort === column.key ? (state.down ? "descending" : "ascending") : "none");
    const cells = view.columns.map((column) =>
      el(
        "th",
        { scope: "col", "aria-sort": sorted(column), class: column.text ? "name" : null },
        el(
          "button",
          { type: "button", "data-key": column.key, "data-tip": column.tip, onclick: () => sortBy(column.key) },
          column.label,
        ),
      ),
    );
    cells.splice(1, 0, el("th", { scope: "col", class: "drawing" }, el("span", {}, view.drawn), axis(on)));
    return el("thead", {}, el("tr", {}, ...cells));
  }
  function line(row, on) {
    const cells = view.columns.map((column, i) => {
      if (i === 0) {
        const { main, rest } = where(row);
        return el(
          "th",
          { scope: "row" },
          el("b", {}, view.named ? view.named(row) : main),
          rest ? el("small", {}, rest) : "",
        );
      }
      const text = column.show(row);
      const why =
        text.startsWith(UNDEFINED) && (row.note || row.reason) ? `undefined: ${row.note || row.reason}` : null;
      return el("td", { "data-tip": why, class: why ? "undefined" : column.text ? "name" : null }, text);
    });
    cells.splice(1, 0, el("td", { class: "drawing", "data-tip": view.tip(row) }, view.draw(row, on)));
    return el("tr", { tabindex: 0, "data-tip": view.tip(row) }, ...cells);
  }
  function draw() {
    const kept = rows();
    const shown = state.all ? kept : kept.slice(0, FIRST);
    const on = scale(view.extent(kept), narrow.matches ? 170 : view.width || 260);
    const table = el(
      "table",
      { class: "drawn" },
      el("caption", {}, el("span", {}, ...[view.caption].flat())),
      head(on),
      el("tbody", {}, ...shown.map((row) => line(row, on))),
    );
    const more =
      kept.length > FIRST
        ? el(
            "button",
            {
              type: "button",
              class: "more",
              onclick: () => {
                state.all = !state.all;
                draw();
              },
            },
            state.all ? `Show the first ${FIRST}` : `Show all ${kept.length} rows`,
          )
        : "";
    const save = el(
      "button",
      { type: "button", class: "save", onclick: () => saveCsv(view, kept) },
      "Save these rows as CSV",
    );
    const note = kept.length ? "" : el("p", { class: "none" }, view.empty || "Nothing is left under these filters.");
    host.replaceChildren(
      ...[
        legend(view.legend()),
        ...(view.local || []).map((option) => localChooser(option, state, draw)),
        el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": view.name }, table),
        note,
        el("p", { class: "tools" }, more, save),
      ].filter(Boolean),
    );
  }
  redraws.push(draw);
}

function localChooser(option, state, draw) {
  const pick = el(
    "select",
    {
      id: option.id,
      onchange: (event) => {
        state.local[option.key] = event.target.value;
        draw();
      },
    },
    ...option.options.map(([value, text]) =>
      el("option", { value, selected: state.local[option.key] === value }, text),
    ),
  );
  return el("label", { class: "local" }, el("span", {}, option.label), pick);
}

// A cell that a spreadsheet would take for a formula gets an apostrophe.
function csvCell(value) {
  if (!known(value)) return "NaN";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
function csvText(rows) {
  const names = rows.length
    ? Object.keys(rows[0]).filter((name) => typeof rows[0][name] !== "object" || rows[0][name] === null)
    : [];
  return (
    [names, ...rows.map((row) => names.map((name) => row[name]))]
      .map((line) => line.map(csvCell).join(","))
      .join("\n") + "\n"
  );
}
function saveCsv(view, rows) {
  const link = el("a", {
    download: `${STUDY.name}-${view.id}.csv`,
    href: URL.createObjectURL(new Blob([csvText(rows)], { type: "text/csv" })),
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
