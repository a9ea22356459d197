"use strict";
// One step is one line of the journals. The cursor is at `now`; everything shown follows from it.
const chart = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const [view, scaled, cursor, slider, list] = ["view", "scaled", "cursor", "slider", "steps"].map(at);
const drawing = at("drawing");
const last = chart.moments.length - 1;
const columns = ["status", "coordinator", "halted_by", "definition", "group", "up", "procedure",
  "application"];
let now = 0;
let zoom = 1;

// The state of every node after that step. A node that is down has none.
function statesAt(step) {
  const states = { ...chart.before };
  for (let i = 0; i <= step; ++i) {
    const moment = chart.moments[i];
    for (const node of moment.over) delete states[node];
    if (moment.view) states[moment.node] = moment.view;
  }
  return states;
}

function cellText(value) {
  if (value === null || value === undefined) return "–";
  return Array.isArray(value) ? (value.length ? value.join(" ") : "∅") : String(value);
}

function showStates() {
  const states = statesAt(now);
  at("rows").replaceChildren(...chart.nodes.map((node) => {
    const row = document.createElement("tr");
    row.dataset.node = node;
    row.className = chart.moments[now].node === node ? "here" : "";
    const name = document.createElement("th");
    name.scope = "row";
    name.textContent = node;
    row.append(name, ...columns.map((column) => {
      const cell = document.createElement("td");
      cell.dataset.field = column;
      const state = states[node];
      cell.textContent = state ? cellText(state[column]) : column === "status" ? "Down" : "–";
      return cell;
    }));
    return row;
  }));
}

function yOf(step) {
  return (chart.moments[step].y * scaled.clientWidth) / chart.width;
}

function go(step, bringIntoSight = true) {
  now = Math.max(0, Math.min(last, step));
  const moment = chart.moments[now];
  slider.value = now;
  slider.setAttribute("aria-valuetext", moment.words);
  at("time").textContent = moment.t;
  at("words").textContent = moment.words + (moment.violation ? " — " + moment.violation : "");
  cursor.style.top = yOf(now) + "px";
  list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
  const item = list.children[now];
  item.setAttribute("aria-selected", "true");
  list.setAttribute("aria-activedescendant", item.id);
  item.scrollIntoView({ block: "nearest" });
  if (bringIntoSight) {
    const y = yOf(now);
    const room = view.clientHeight;
    if (y < view.scrollTop + room * 0.15 || y > view.scrollTop + room * 0.85)
      view.scrollTop = y - room / 2;
  }
  showStates();
}

function zoomBy(factor) {
  zoom = factor === 0 ? 1 : Math.max(0.25, Math.min(4, zoom * factor));
  scaled.style.width = chart.width * zoom + "px";
  at("zoom").textContent = Math.round(zoom * 100) + " %";
  go(now);
}

function nextViolation() {
  for (let i = 1; i <= last + 1; ++i) {
    const step = (now + i) % (last + 1);
    if (chart.moments[step].violation) return go(step);
  }
}

const keys = {
  ArrowRight: () => go(now + 1), ArrowDown: () => go(now + 1),
  ArrowLeft: () => go(now - 1), ArrowUp: () => go(now - 1),
  PageDown: () => go(now + 10), PageUp: () => go(now - 10),
  Home: () => go(0), End: () => go(last),
  "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: () => zoomBy(0),
  v: nextViolation,
};
document.addEventListener("keydown", (event) => {
  const act = keys[event.key];
  if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  act();
});
slider.addEventListener("input", () => go(Number(slider.value)));
at("in").addEventListener("click", () => zoomBy(1.25));
at("out").addEventListener("click", () => zoomBy(0.8));
at("back").addEventListener("click", () => go(now - 1));
at("next").addEventListener("click", () => go(now + 1));
list.addEventListener("click", (event) => {
  const item = event.target.closest("li");
  if (item) go([...list.children].indexOf(item));
});
drawing.addEventListener("click", (event) => {
  const sign = event.target.closest("[data-moment], [data-received], [data-sent]");
  if (sign) go(Number(sign.dataset.moment ?? sign.dataset.received ?? sign.dataset.sent), false);
});
view.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoomBy(event.deltaY < 0 ? 1.1 : 1 / 1.1);
}, { passive: false });
let grip = null;
view.addEventListener("pointerdown", (event) => {
  grip = { x: event.clientX + view.scrollLeft, y: event.clientY + view.scrollTop };
});
view.addEventListener("pointermove", (event) => {
  if (!grip || event.buttons !== 1) return;
  view.scrollTo(grip.x - event.clientX, grip.y - event.clientY);
});
window.addEventListener("pointerup", () => { grip = null; });

slider.max = last;
list.replaceChildren(...chart.moments.map((moment, i) => {
  const item = document.createElement("li");
  item.id = "step" + i;
  item.role = "option";
  item.setAttribute("aria-selected", "false");
  item.className = moment.violation ? "violation" : "";
  item.textContent = moment.t + "  " + moment.words;
  return item;
}));
zoomBy(0);
