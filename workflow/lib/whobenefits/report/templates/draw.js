// Small drawings on one scale: dots, intervals and marks in a row, with an axis in the head of their column.
const HEIGHT = 22,
  PAD = 14;
const narrow = window.matchMedia("(max-width: 44rem)");

function niceStep(span, parts) {
  const raw = span / parts,
    power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= raw);
}
function scale(values, width) {
  const all = values.filter(known).concat([0]);
  if (!all.length) all.push(0, 1);
  let low = Math.min(...all),
    high = Math.max(...all);
  if (high - low < 1e-9) high = low + 1;
  const step = niceStep(high - low, width < 200 ? 2 : 4);
  low = Math.floor(low / step) * step;
  high = Math.ceil(high / step) * step;
  const ticks = [];
  for (let i = 0; low + i * step <= high + step / 1e6; i++) ticks.push(low + i * step);
  const x = (value) => PAD + ((value - low) / (high - low)) * (width - 2 * PAD);
  return { low, high, ticks, x, width, digits: step < 0.1 ? 2 : step < 1 ? 1 : 0 };
}
const frame = (on, height, ...children) =>
  svg(
    "svg",
    { viewBox: `0 0 ${on.width} ${height}`, width: on.width, height, class: "strip", "aria-hidden": "true" },
    ...children,
  );
function axis(on) {
  const marks = on.ticks.map((tick) =>
    svg("text", { x: on.x(tick), y: 12, class: "tick", "text-anchor": "middle" }, number(tick, on.digits)),
  );
  return frame(on, 16, ...marks);
}
const gridLines = (on) =>
  on.ticks.map((tick) =>
    svg("line", { x1: on.x(tick), x2: on.x(tick), y1: 0, y2: HEIGHT, class: tick === 0 ? "zero" : "grid" }),
  );
function bar(on, low, high, y, kind) {
  if (!known(low) || !known(high)) return null;
  return svg("line", { x1: on.x(low), x2: on.x(high), y1: y, y2: y, class: `bar ${kind}` });
}
function dot(on, value, y, kind, hollow, text) {
  if (!known(value)) return null;
  return svg("circle", {
    cx: on.x(value),
    cy: y,
    r: 4.5,
    class: `dot ${kind}${hollow ? " hollow" : ""}`,
    "data-tip": text,
  });
}
function mark(on, value, kind, text) {
  if (!known(value)) return null;
  return svg("line", {
    x1: on.x(value),
    x2: on.x(value),
    y1: 3,
    y2: HEIGHT - 3,
    class: `mark ${kind}`,
    "data-tip": text,
  });
}
function join(on, from, to, y, kind) {
  return known(from) && known(to)
    ? svg("line", { x1: on.x(from), x2: on.x(to), y1: y, y2: y, class: `join ${kind}` })
    : null;
}
const strip = (on, ...marks) => frame(on, HEIGHT, ...gridLines(on), ...marks);
// A colour for each retriever; the LLM alone and means are grey.
const hue = (retriever) => {
  const at = places("retriever").indexOf(retriever);
  return at < 0 ? "alone" : `hue${at % 6}`;
};
function legend(items) {
  return el(
    "p",
    { class: "legend" },
    ...items.map(([kind, text]) => el("span", {}, el("i", { class: `key ${kind}` }), text)),
  );
}
const retrieverKeys = () =>
  places("retriever")
    .filter((name) => !chosen.retriever || name === chosen.retriever)
    .map((name) => [hue(name), label("retriever", name)]);
