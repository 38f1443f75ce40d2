// SPDX-License-Identifier: Apache-2.0
// The HTML report: overview, search and filters, and each finding when it is opened. All text
// comes from the program that was watched, so it only ever becomes text nodes and attributes.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const LEVELS = ["error", "warning", "note"];
const PRINTED = 200; // findings that printing opens
const PAGE = 300; // findings that are listed at a time
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const placeOf = (at) => at.file ? `${at.file}:${at.line}` : "";

// ---- the picture: a lane for each thread, time runs down -----------------------------------

const LANE = 300, ROW = 46, TOP = 44, LEFT = 24;

function shortened(text, most) {
  const all = Array.from(text);
  return all.length > most ? all.slice(0, most - 1).join("") + "\u2026" : text;
}

function stackTitle(step) {
  const lines = step.stack.map((frame) => `${frame.function} ${placeOf(frame)}`);
  return [`${step.thread}: ${step.operation}`, placeOf(step), ...lines].filter(Boolean).join("\n");
}

function drawConflict(from, to, x1, x2) {
  const y1 = TOP + from * ROW, y2 = TOP + to * ROW, middle = (y1 + y2) / 2;
  const end = y2 - 9;
  return [
    shape("path", {class: "join", d: `M${x1} ${y1 + 7} C${x1} ${middle}, ${x2} ${middle}, ${x2} ${end - 6}`}),
    shape("path", {class: "arrow", d: `M${x2} ${end} l-5 -9 h10 z`}),
  ];
}

function picture(finding) {
  const steps = finding.steps;
  const threads = [...new Set(steps.map((step) => step.thread))];
  const x = (thread) => LEFT + threads.indexOf(thread) * LANE;
  const height = TOP + steps.length * ROW;
  const svg = shape("svg", {role: "img", viewBox: `0 0 ${LEFT + threads.length * LANE} ${height}`,
    width: LEFT + threads.length * LANE, height,
    "aria-label": `Interleaving of ${threads.length} threads in ${steps.length} steps; the list below has the same`});
  const own = steps.map((step, i) => step.own ? i : -1).filter((i) => i >= 0);
  if (own.length > 1) {
    const first = own[0], last = own[own.length - 1];
    svg.append(shape("rect", {class: "window", x: x(steps[first].thread) - 12, width: 24,
      y: TOP + first * ROW, height: (last - first) * ROW}));
  }
  for (const thread of threads) {
    svg.append(shape("line", {class: "lane", x1: x(thread), x2: x(thread), y1: 26, y2: height - 14}),
      shape("text", {x: x(thread) - 8, y: 16, "font-weight": "bold"}, shortened(thread, 32)));
  }
  steps.forEach((step, i) => {
    if (step.conflict !== undefined) {
      svg.append(...drawConflict(i, step.conflict, x(step.thread), x(steps[step.conflict].thread)));
    }
  });
  steps.forEach((step, i) => {
    const y = TOP + i * ROW;
    svg.append(shape("g", {}, shape("title", {}, stackTitle(step)),
      shape("circle", {class: step.own ? "step own" : "step", cx: x(step.thread), cy: y, r: 7}),
      shape("text", {x: x(step.thread) + 18, y: y + 2}, shortened(`${i + 1}  ${step.operation}`, 36)),
      shape("text", {class: "small", x: x(step.thread) + 18, y: y + 17}, shortened(placeOf(step), 42))));
  });
  return element("div", {class: "picture", tabindex: "0", role: "group", "aria-label": "Interleaving"}, svg);
}

// ---- over time: columns are labels or results of a history ------------------------------------

const columns = data.timeline ? data.timeline.columns : [];
const BAR = Math.max(12, Math.min(28, Math.floor(360 / (columns.length || 1)))); // width of a column
const TALL = 48; // height of the highest bar
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// "2026-11-18T05:38:27.617Z" without letters and fractions; other names as they are.
const readable = (name) => name.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$/, "$1 $2 UTC");

// Stacked bars: of each column a list of [class, size], and a text.
function bars(label, stacks, texts) {
  const most = Math.max(1, ...stacks.map((stack) => stack.reduce((sum, [, size]) => sum + size, 0)));
  const svg = shape("svg", {role: "img", class: "bars", viewBox: `0 0 ${columns.length * BAR + 2} ${TALL + 8}`,
    width: columns.length * BAR + 2, height: TALL + 8, "aria-label": label});
  stacks.forEach((stack, i) => {
    let y = TALL;
    const group = shape("g", {}, shape("title", {}, texts[i]),
      shape("rect", {class: "ground", x: i * BAR + 1, y: 0, width: BAR, height: TALL + 8}),
      shape("rect", {class: columns[i].reported ? "here" : "base", x: i * BAR + 2, y: TALL + 2, width: BAR - 2, height: 3}));
    for (const [kind, size] of stack) {
      if (!size) continue;
      const height = Math.max(3, TALL * size / most);
      y -= height;
      group.append(shape("rect", {class: `bar ${kind}`, x: i * BAR + 2, y: Math.max(0, y), width: BAR - 2, height}));
    }
    svg.append(group);
  });
  return element("div", {class: "picture", tabindex: "0", role: "group", "aria-label": "Occurrences over time"}, svg);
}

function table(caption, heads, rows) {
  return element("details", {class: "numbers"}, element("summary", {}, caption), element("table", {},
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", {scope: "col"}, head)))),
    element("tbody", {}, ...rows.map(([name, ...cells]) => element("tr", {},
      element("th", {scope: "row"}, name), ...cells.map((cell) => element("td", {}, String(cell))))))));
}

const columnTitle = (column) => readable(column.name) + (column.reported ? " (this report)" : "");
const capital = (text) => text[0].toUpperCase() + text.slice(1);

function seenSentence(history, unit) {
  const last = history.cells.length ? history.cells[history.cells.length - 1][0] : -1;
  const since = columns.length - 1 - last;
  const at = (time, name) => unit === "label" ? `${readable(time)} (${readable(name)})` : readable(time);
  return `First seen ${at(history.first, history.firstIn)}, last seen ${at(history.last, history.lastIn)}: ` +
    `in ${history.cells.length} of the last ${plural(columns.length, unit)}` +
    (since > 0 && last >= 0 ? `, not in the last ${since === 1 ? "one" : since}.` : ".");
}

// Occurrences of a finding: how many runs of each column showed it.
function overTime(finding) {
  const history = finding.history;
  if (!history || !columns.length) return [];
  const unit = data.timeline.unit, stacks = columns.map(() => []);
  const texts = columns.map((column) => `${columnTitle(column)}: not seen in ${plural(column.runs, "run")}`);
  for (const [column, level, , runs] of history.cells) {
    stacks[column] = [[level, runs]];
    texts[column] = `${columnTitle(columns[column])}: ${level} in ${runs} of ${plural(columns[column].runs, "run")}`;
  }
  const cells = new Map(history.cells.map((cell) => [cell[0], cell]));
  const sentence = seenSentence(history, unit);
  return [element("h3", {}, "Over time"), element("p", {}, sentence),
    bars(`${sentence} The table below has the numbers.`, stacks, texts),
    table(`Runs that showed it, by ${unit}`, [capital(unit), "Level", "Runs that showed it", "Runs"],
      columns.map((column, i) => [columnTitle(column), cells.has(i) ? cells.get(i)[1] : "\u2013",
        cells.has(i) ? cells.get(i)[3] : 0, column.runs]).reverse())];
}

// Errors and warnings of each column.
function allOverTime() {
  if (!columns.length) return [];
  const unit = data.timeline.unit, first = columns[0], last = columns[columns.length - 1];
  const results = columns.reduce((sum, column) => sum + column.results, 0);
  const span = columns.length === 1 ? `One ${unit}, ${readable(first.name)}` :
    `The last ${plural(columns.length, unit)}, ${readable(first.name)} to ${readable(last.name)}`;
  const omitted = data.timeline.omitted ? `; ${plural(data.timeline.omitted, "older one")} not shown` : "";
  const sentence = `${span}${unit === "label" ? `, with ${plural(results, "result")}` : ""}${omitted}.`;
  return [element("section", {id: "history", "aria-label": "Over time"}, element("h2", {}, "Over time"),
    element("p", {}, sentence, " ", element("span", {class: "facts"},
      element("b", {class: "error"}, "\u25a0"), " errors ", element("b", {class: "warning"}, "\u25a0"), " warnings ",
      element("b", {class: "here"}, "\u25ac"), " in this report")),
    bars(`Errors and warnings by ${unit}. ${sentence} The table below has the numbers.`,
      columns.map((column) => [["error", column.error], ["warning", column.warning]]),
      columns.map((column) => `${columnTitle(column)}: ${plural(column.error, "error")}, ` +
        `${plural(column.warning, "warning")} in ${plural(column.results, "result")}`)),
    table(`Findings by ${unit}`, [capital(unit), "Errors", "Warnings", "Notes", "Results"], columns.map((column) =>
      [columnTitle(column), column.error, column.warning, column.note, column.results]).reverse()))];
}

function suppression(history) {
  return history && history.reason ? paragraph("Suppressed",
    `by ${history.by}, ${readable(history.at)}: ${history.reason}`) : [];
}

// ---- the parts of a finding -----------------------------------------------------------------

function stepList(finding) {
  return element("ol", {class: "steps"}, ...finding.steps.map((step) => {
    const item = element("li", {}, element("b", {}, step.thread), ` ${step.operation} `,
      element("span", {class: "file"}, placeOf(step)));
    if (step.stack.length > 1) {
      item.append(element("details", {}, element("summary", {}, "call stack"),
        element("ol", {class: "stack"}, ...step.stack.map((frame) =>
          element("li", {}, `${frame.function} ${placeOf(frame)}`)))));
    }
    return item;
  }));
}

// Has the file other lines now than when the program was watched?
function hasChanged(finding, lines) {
  return finding.steps.some((step) => step.source && step.file === finding.file &&
    lines[step.line] !== undefined && lines[step.line].trim() !== step.source.trim());
}

function excerpt(finding) {
  const lines = data.sources[finding.file];
  if (!lines || !lines[finding.line]) return null;
  if (hasChanged(finding, lines)) {
    return element("p", {class: "facts"}, `${finding.file} has changed since; its lines are not shown.`);
  }
  const pre = element("pre", {class: "source", tabindex: "0", "aria-label": `Lines of ${finding.file}`});
  for (let number = Math.max(1, finding.line - 3); number <= finding.end + 3; number++) {
    if (lines[number] === undefined) continue;
    const inside = number >= finding.line && number <= finding.end;
    pre.append(element("span", inside ? {class: "in"} : {},
      element("i", {}, `${inside ? "\u25b6" : " "}${String(number).padStart(5)}  `), lines[number]));
  }
  return pre;
}

function paragraph(heading, text) {
  return text ? [element("h3", {}, heading), element("p", {}, capital(text))] : [];
}

function fill(details, finding) {
  if (details.querySelector(".body")) return;
  const source = excerpt(finding);
  details.append(element("div", {class: "body"},
    element("p", {class: "facts"}, [finding.counted, finding.evidence, `found by ${finding.engine}`, finding.path]
      .filter(Boolean).join(" \u00b7 ")),
    ...suppression(finding.history),
    ...(finding.steps.length ? [picture(finding)] : []),
    ...paragraph("Why", finding.why), ...paragraph("But", finding.but), ...paragraph("Fix", finding.fix),
    ...(source ? [element("h3", {}, `Source: ${placeOf(finding)}`), source] : []),
    ...(finding.steps.length ? [element("h3", {}, "Steps"), stepList(finding)] : []),
    ...overTime(finding),
    ...paragraph("Not a bug?", `--suppress=${finding.id}`)));
}

function row(finding, index) {
  const state = finding.suppressed ? " (suppressed)" : finding.known ? " (known)" : isNew(finding) ? " (new)" : "";
  const details = element("details", {class: "finding", id: `f${index}`},
    element("summary", {}, element("span", {class: `level ${finding.level}`}, finding.level),
      finding.headline, state, element("span", {class: "where"},
        [placeOf(finding), finding.evidence, finding.id].filter(Boolean).join(" \u00b7 "))));
  details.addEventListener("toggle", () => { if (details.open) fill(details, finding); });
  return details;
}

// ---- the page -------------------------------------------------------------------------------

function checkbox(name, label, checked) {
  const box = element("input", {type: "checkbox", name});
  box.checked = checked;
  return element("label", {}, box, ` ${label}`);
}

function choice(name, label, words) {
  return element("label", {class: "field"}, label,
    element("select", {name}, element("option", {value: ""}, "all"),
      ...words.map((word) => element("option", {value: word}, word))));
}

const isNew = (finding) => Boolean(finding.history && finding.history.isNew);
const unique = (key) => [...new Set(data.findings.map((finding) => finding[key]))].sort();
const counts = (level) => data.findings.filter((finding) => finding.level === level &&
  !finding.known && !finding.suppressed).length;

function build() {
  const main = document.getElementById("main");
  const fresh = data.findings.filter((finding) => isNew(finding) && !finding.known && !finding.suppressed).length;
  const worse = counts("error") + counts("warning") > 0;
  const search = element("input", {type: "search", id: "search", name: "search",
    placeholder: "function, variable, file, id"});
  const form = element("form", {role: "search", "aria-label": "Findings"},
    element("label", {class: "field"}, "Search", search),
    choice("rule", "Pattern", unique("rule")), choice("evidence", "Evidence", unique("evidence")),
    element("fieldset", {}, element("legend", {}, "Show"),
      ...LEVELS.map((level) => checkbox(level, `${level}s`, level !== "note" || !worse)),
      checkbox("known", "known and suppressed", false),
      ...(fresh ? [checkbox("fresh", "only new", false)] : [])));
  const shown = element("p", {id: "shown", role: "status", "aria-live": "polite"});
  const list = element("section", {id: "findings", "aria-label": "Findings"});
  const more = element("button", {type: "button", id: "more"});
  const rows = [], texts = []; // by finding, made when they are needed
  let fitting = [], listed = 0;

  function textOf(finding, index) {
    texts[index] ??= [finding.headline, finding.id, finding.rule, finding.block, placeOf(finding),
      ...finding.steps.map((step) => `${step.operation} ${step.file}`)].join("\n").toLowerCase();
    return texts[index];
  }

  function matches(finding, index, wanted) {
    return form.elements[finding.level].checked &&
      (form.elements.known.checked || !(finding.known || finding.suppressed)) &&
      (!form.elements.fresh?.checked || isNew(finding)) &&
      (!form.elements.rule.value || form.elements.rule.value === finding.rule) &&
      (!form.elements.evidence.value || form.elements.evidence.value === finding.evidence) &&
      wanted.every((word) => textOf(finding, index).includes(word));
  }

  function update() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    fitting = [...data.findings.keys()].filter((index) => matches(data.findings[index], index, wanted));
    listed = 0;
    list.replaceChildren();
    extend();
    shown.textContent = `${fitting.length} of ${data.findings.length} findings`;
  }

  // Lists the next findings; the keyboard goes on at the first of them.
  function extend() {
    const next = fitting.slice(listed, listed + PAGE).map((index) => rows[index] ??= row(data.findings[index], index));
    list.append(...next);
    listed += next.length;
    more.hidden = listed === fitting.length;
    more.textContent = `Show ${Math.min(PAGE, fitting.length - listed)} more`;
    return next[0];
  }

  main.replaceChildren(
    element("ul", {class: "overview", "aria-label": "Overview"}, ...LEVELS.map((level) =>
      element("li", {class: level}, element("b", {}, String(counts(level))),
        counts(level) === 1 ? level : `${level}s`)),
      ...(data.timeline ? [element("li", {}, element("b", {}, String(fresh)), "new")] : [])),
    ...allOverTime(),
    ...data.parts.filter((part) => part.loss).map((part) => element("p", {}, `${part.path}: ${part.loss}`)),
    form, element("h2", {}, "Findings"), shown, list, more);
  form.addEventListener("input", update);
  more.addEventListener("click", () => extend().firstChild.focus());
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      search.focus();
    }
  });
  window.addEventListener("beforeprint", () => {
    [...list.children].slice(0, PRINTED).forEach((details) => {
      fill(details, data.findings[Number(details.id.slice(1))]);
      details.open = true;
    });
  });
}

build();
})();
