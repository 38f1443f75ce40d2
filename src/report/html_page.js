// SPDX-License-Identifier: Apache-2.0
// The HTML report: overview, search and filters, and each finding when it is opened. All text
// comes from the program that was watched, so it only ever becomes text nodes and attributes.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const LEVELS = ["error", "warning", "note"];
const PRINTED = 200; // findings that printing opens
const PAGE = 300; // entries that are listed at a time
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

const placeOf = (at) => at.file ? `${at.file}:${at.line}` : at.place || ""; // "location 3" of some traces

// ---- the picture: a lane for each thread, time runs down -----------------------------------

const ROW = 50, TOP = 62, LEFT = 24, GAP = 18; // GAP: from a lane to its texts
const LANE_LEAST = 200, LANE_MOST = 500;
const pen = document.createElement("canvas").getContext("2d");

function widthOf(text, size, weight) {
  pen.font = `${weight || "normal"} ${size}px system-ui, sans-serif`;
  return pen.measureText(text).width;
}

// Fits the text into so many pixels. An ellipsis replaces its middle: names differ at their ends.
// `tail`: how much of what is kept is from the end.
function fitted(text, room, size, tail = 0.6) {
  if (widthOf(text, size) <= room) return text;
  const all = Array.from(text);
  let low = 0, high = all.length;
  const kept = (count) => {
    const end = Math.round(count * tail);
    return all.slice(0, count - end).join("") + "\u2026" + all.slice(all.length - end).join("");
  };
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(kept(middle), size) <= room) low = middle; else high = middle - 1;
  }
  return kept(low);
}

const stackOf = (step) => data.stacks[step.stack];

function stackTitle(step) {
  const lines = stackOf(step).map((frame) => `${frame.function} ${placeOf(frame)}`);
  return [`${step.thread}: ${step.operation}`, placeOf(step), ...lines].filter(Boolean).join("\n");
}

const blockOf = (finding, thread) => thread === finding.otherThread ? finding.otherBlock :
  finding.steps.some((step) => step.own && step.thread === thread) ? finding.ownBlock || "" : "";

// Down the lane of the first step, and across between two rows, where there is no text.
function drawConflict(from, to, x1, x2) {
  const y1 = TOP + from * ROW, y2 = TOP + to * ROW, end = y2 - 9, across = y2 - 23;
  const turn = Math.sign(x2 - x1) * 6;
  const way = turn ? `V${across - 6} q0 6 ${turn} 6 H${x2 - turn} q${turn} 0 ${turn} 6` : "";
  return [
    shape("path", {class: "join", d: `M${x1} ${y1 + 7} ${way} V${end - 6}`}),
    shape("path", {class: "arrow", d: `M${x2} ${end} l-5 -9 h10 z`}),
  ];
}

// Where lanes are: as wide as their texts, but not wider than their share of the page.
function lanesOf(finding, threads, remarkLane) {
  const share = (Math.min(1060, document.documentElement.clientWidth - 80) - LEFT) / threads.length;
  const most = Math.max(LANE_LEAST, Math.min(LANE_MOST, share)) - GAP;
  let next = LEFT;
  return new Map(threads.map((thread) => {
    const widths = [widthOf(thread, 14, "bold"), widthOf(blockOf(finding, thread), 12)];
    finding.steps.forEach((step, i) => {
      if (step.thread !== thread) return;
      widths.push(widthOf(`${i + 1}  ${step.operation}`, 14), widthOf(placeOf(step), 12));
    });
    if (thread === remarkLane) widths.push(widthOf(`\u2190 ${finding.remark}`, 14));
    const room = Math.min(most, Math.max(LANE_LEAST - GAP, ...widths.map((width) => width + 6)));
    const lane = {x: next, room};
    next += GAP + room + 12;
    return [thread, lane];
  }));
}

function picture(finding) {
  const steps = finding.steps, last = steps.length - 1;
  const threads = [...new Set(steps.map((step) => step.thread))];
  const remarkLane = finding.remark && steps[last].own ? threads.find((thread) => thread !== steps[last].thread) : undefined;
  const lanes = lanesOf(finding, threads, remarkLane);
  const x = (thread) => lanes.get(thread).x, room = (thread) => lanes.get(thread).room;
  const end = lanes.get(threads[threads.length - 1]);
  const height = TOP + steps.length * ROW - 14, width = Math.ceil(end.x + GAP + end.room);
  const svg = shape("svg", {role: "img", viewBox: `0 0 ${width} ${height}`, width, height,
    "aria-label": `Interleaving of ${threads.length} threads in ${steps.length} steps; the list below has the same`});
  const own = steps.map((step, i) => step.own ? i : -1).filter((i) => i >= 0);
  if (own.length > 1) {
    const first = own[0], until = own[own.length - 1];
    svg.append(shape("rect", {class: "window", x: x(steps[first].thread) - 12, width: 24,
      y: TOP + first * ROW, height: (until - first) * ROW}));
  }
  for (const thread of threads) {
    svg.append(shape("line", {class: "lane", x1: x(thread), x2: x(thread), y1: 42, y2: height - 8}),
      shape("text", {x: x(thread) - 8, y: 16, "font-weight": "bold"}, fitted(thread, room(thread), 14)),
      shape("text", {class: "small", x: x(thread) - 8, y: 33}, fitted(blockOf(finding, thread), room(thread), 12, 0.4)));
  }
  steps.forEach((step, i) => {
    if (step.conflict !== undefined) {
      svg.append(...drawConflict(i, step.conflict, x(step.thread), x(steps[step.conflict].thread)));
    }
  });
  steps.forEach((step, i) => {
    const y = TOP + i * ROW, at = x(step.thread) + GAP;
    svg.append(shape("g", {}, shape("title", {}, stackTitle(step)),
      shape("circle", {class: step.own ? "step own" : "step", cx: x(step.thread), cy: y, r: 7}),
      shape("text", {x: at, y: y + 2}, fitted(`${i + 1}  ${step.operation}`, room(step.thread), 14)),
      shape("text", {class: "small", x: at, y: y + 17}, fitted(placeOf(step), room(step.thread), 12, 0.9))));
  });
  if (remarkLane !== undefined) {
    svg.append(shape("text", {class: "remark", x: x(remarkLane) + GAP, y: TOP + last * ROW + 2},
      fitted(`\u2190 ${finding.remark}`, room(remarkLane), 14)));
  }
  return element("div", {class: "picture", tabindex: "0", role: "group", "aria-label": "Interleaving"}, svg);
}

// ---- over time: columns are labels or results of a history ------------------------------------

const columns = data.timeline ? data.timeline.columns : [];
const BAR = Math.max(12, Math.min(28, Math.floor(360 / (columns.length || 1)))); // width of a column
const TALL = 48; // height of the highest bar
const number = (count) => count.toLocaleString("en");
const plural = (count, word) => `${number(count)} ${count === 1 ? word : word.replace(/y$/, "ie") + "s"}`;

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
    (unit === "label" && since > 0 && last >= 0 ? `, not in the last ${since === 1 ? "one" : since}.` : ".");
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
  const last = finding.steps.length - 1;
  return element("ol", {class: "steps"}, ...finding.steps.map((step, i) => {
    const words = [element("b", {}, step.thread), ` ${step.operation} `,
      element("span", {class: "file"}, placeOf(step)),
      ...(i === last && finding.remark && step.own ? [element("span", {class: "remark"}, ` \u2190 ${finding.remark}`)] : [])];
    const code = step.source ? [element("code", {}, step.source)] : [];
    const stack = stackOf(step);
    return stack.length < 2 ? element("li", {}, ...words, ...code) :
      element("li", {}, element("details", {}, element("summary", {}, ...words, ...code),
        element("ol", {class: "stack", "aria-label": "Call stack"}, ...stack.map((frame) =>
          element("li", {}, `${frame.function} `, element("span", {class: "file"}, placeOf(frame)))))));
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
    if (lines[number] === undefined) {
      if (number < finding.end && lines[number - 1] !== undefined) {
        pre.append(element("span", {}, element("i", {}, `        \u22ee  ${finding.end - number + 1} more lines, to line ${finding.end}`)));
      }
      continue;
    }
    const inside = number >= finding.line && number <= finding.end;
    pre.append(element("span", inside ? {class: "in"} : {},
      element("i", {}, `${inside ? "\u25b6" : " "}${String(number).padStart(5)}  `), lines[number]));
  }
  return pre;
}

// A sentence, unless it begins with one of the names, which stay as they are.
function paragraph(heading, text, names = []) {
  const words = !text || names.some((name) => text.startsWith(`${name} `)) ? text : capital(text);
  return text ? [element("h3", {}, heading), element("p", {}, words)] : [];
}

// Predictions know the critical sections, and what is done in them from other executions.
function sectionsOnly(finding) {
  return finding.remark && finding.evidence !== "observed" && finding.rule !== "order-only" &&
    finding.steps.length && finding.steps.every((step) => /^(un)?lock /.test(step.operation)) ?
    [element("p", {class: "facts"}, "The steps take the locks under which the data is read and written.")] : [];
}

// How to make tmesis silent about it.
function silence(finding) {
  const code = (text) => element("code", {}, text);
  const function_ = finding.remark !== undefined && /^[\w:~]+$/.test(finding.block) ? finding.block : "";
  return [element("h3", {}, "Not a bug?"), element("p", {}, "Hide this finding with ", code(`--suppress=${finding.id}`),
    ...(function_ ? [", or say that the function is not meant to be atomic with ", code(`--not-atomic=${function_}`)] : []), ".")];
}

function fill(details, finding) {
  if (details.querySelector(".body")) return;
  const source = excerpt(finding);
  details.append(element("div", {class: "body"},
    element("p", {class: "facts"}, [finding.counted, `engine ${finding.engine}`, finding.rule, several ? finding.path : ""]
      .filter(Boolean).join(" \u00b7 "), element("span", {class: "link"}, " \u00b7 ",
        element("a", {href: `#${details.id}`}, "link to this finding"))),
    ...(finding.outer ? [element("p", {class: "facts"}, `cut along with it: ${finding.outer}`)] : []),
    ...suppression(finding.history),
    ...(finding.steps.length ? [picture(finding)] : []), ...sectionsOnly(finding),
    ...paragraph("Why", finding.why, finding.steps.map((step) => step.thread)), ...paragraph("Caveat", finding.but), ...paragraph("Fix", finding.fix),
    ...(source ? [element("h3", {}, `Source: ${placeOf(finding)}`), source] : []),
    ...(finding.steps.length ? [element("h3", {}, "Steps"), stepList(finding)] : []),
    ...overTime(finding),
    ...(finding.suppressed ? [] : silence(finding))));
}

function row(finding, index) {
  const state = finding.suppressed ? " (suppressed)" : finding.known ? " (known)" : isNew(finding) ? " (new)" : "";
  const details = element("details", {class: "finding", id: anchors[index]},
    element("summary", {}, element("span", {class: `level ${finding.level}`}, finding.level),
      element("span", {class: "headline"}, finding.headline.replace(/\.$/, ""), state), element("span", {class: "where"},
        [placeOf(finding), finding.evidence, several ? finding.path : "", finding.id].filter(Boolean).join(" \u00b7 "))));
  details.addEventListener("toggle", () => { if (details.open) fill(details, finding); });
  // The address leads to what was opened last, for others to be sent.
  details.firstChild.addEventListener("click", () => {
    if (!details.open) history.replaceState(null, "", `#${details.id}`);
  });
  return details;
}

// ---- the page -------------------------------------------------------------------------------

function checkbox(name, label, checked) {
  const box = element("input", {type: "checkbox", name});
  box.checked = box.defaultChecked = checked;
  return element("label", {}, box, ` ${label}`);
}

function choice(name, label, words) {
  return element("label", {class: "field"}, label,
    element("select", {name}, element("option", {value: ""}, "all"),
      ...words.map((word) => element("option", {value: word}, word))));
}

const isNew = (finding) => Boolean(finding.history && finding.history.isNew);
const unique = (key) => [...new Set(data.findings.map((finding) => finding[key]))].sort();
const several = unique("path").length > 1;
const subjects = data.parts.every((part) => part.live) ? "Program" : data.parts.some((part) => part.live) ?
  "Program or trace" : "Trace";
const counted = (level) => data.findings.filter((finding) => finding.level === level &&
  !finding.known && !finding.suppressed);

// The id of each finding as the fragment of a link; several results may have the same.
const anchors = (() => {
  const times = new Map();
  return data.findings.map(({id}) => {
    times.set(id, (times.get(id) || 0) + 1);
    return times.get(id) > 1 ? `${id}-${times.get(id)}` : id;
  });
})();

// As in the text report: blocks whose worst finding was observed, by level; the others by what they are.
function tiles() {
  const words = [["error", "error", "errors"], ["warning", "warning", "warnings"],
    ["predicted", "predicted", "predicted"], ["note", "note", "notes"],
    ["race", "data race", "data races"], ["potential", "potential", "potential"]];
  return words.filter(([key]) => LEVELS.includes(key) || data.counts[key]).map(([key, one, many]) =>
    element("li", {class: key}, element("b", {}, number(data.counts[key])), data.counts[key] === 1 ? one : many));
}

// A block counts once above, and below each of its findings does.
function countedByBlock() {
  const blocks = Object.values(data.counts).reduce((sum, count) => sum + count, 0);
  return data.findings.filter((finding) => !finding.known && !finding.suppressed).length === blocks ? [] :
    [element("p", {class: "facts", id: "by-block"}, "These are counts of blocks; a block may have several findings.")];
}

// Verdict, outcome, when and where: a row for each trace or program, a column for what is known of one.
function about() {
  const known = [["Verdict", "verdict"], ["Outcome", "outcome"], ["Started", "started"], ["Host", "host"],
    ["Seed", "seed"], ["tmesis", "version"]].filter(([, key]) => data.parts.some((part) => part[key]));
  const folded = table("About", [subjects, ...known.map(([head]) => head)], data.parts.map((part) =>
    [part.path, ...known.map(([, key]) => readable(part[key] || "\u2013"))]));
  folded.id = "about";
  folded.open = data.parts.length === 1;
  return folded;
}

function build() {
  const main = document.getElementById("main");
  const fresh = data.findings.filter((finding) => isNew(finding) && !finding.known && !finding.suppressed).length;
  const worse = counted("error").length + counted("warning").length > 0;
  const search = element("input", {type: "search", id: "search", name: "search",
    placeholder: "function, variable, file, id"});
  const form = element("form", {role: "search", "aria-label": "Findings"},
    element("label", {class: "field"}, "Search", search),
    choice("rule", "Pattern", unique("rule")), choice("evidence", "Evidence", unique("evidence")),
    ...(several ? [choice("path", subjects, unique("path"))] : []),
    element("fieldset", {}, element("legend", {}, "Show"),
      ...LEVELS.map((level) => checkbox(level, `${level}s`, level !== "note" || !worse)),
      checkbox("known", "known and suppressed", false), checkbox("group", "one entry per block", true),
      ...(fresh ? [checkbox("fresh", "only new", false)] : [])));
  const shown = element("p", {id: "shown", role: "status", "aria-live": "polite"});
  const list = element("section", {id: "findings", "aria-label": "Findings"});
  const more = element("button", {type: "button", id: "more"});
  const rows = [], texts = []; // by finding, made when they are needed
  let fitting = [], groups = [], listed = 0;

  function textOf(finding, index) {
    texts[index] ??= [finding.headline, finding.id, finding.rule, finding.block, finding.path, placeOf(finding),
      ...finding.steps.map((step) => `${step.operation} ${placeOf(step)}`)].join("\n").toLowerCase();
    return texts[index];
  }

  // Why a finding is not listed; "" if it is.
  function hiddenAs(finding, index, wanted) {
    if (!["rule", "evidence", "path"].every((name) => !form.elements[name]?.value ||
        form.elements[name].value === finding[name]) || (form.elements.fresh?.checked && !isNew(finding)) ||
        !wanted.every((word) => textOf(finding, index).includes(word))) return "other";
    if (!form.elements.known.checked && (finding.known || finding.suppressed)) return "known";
    return form.elements[finding.level].checked ? "" : finding.level;
  }

  // "9 of 3,455 findings. Matching, but not shown: 3,446 notes."
  function tally(hidden) {
    const names = LEVELS.filter((level) => hidden[level]).map((level) => plural(hidden[level], level));
    if (hidden.known) names.push(`${number(hidden.known)} known or suppressed`);
    shown.textContent = `${number(fitting.length)} of ${plural(data.findings.length, "finding")}` +
      (groups.length < fitting.length ? `, in ${plural(groups.length, "entry")}` : "") +
      (names.length ? `. ${hidden.other ? "Matching, but not" : "Not"} shown: ${names.join(", ")}.` : "");
  }

  function update() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hidden = {};
    fitting = [...data.findings.keys()].filter((index) => {
      const why = hiddenAs(data.findings[index], index, wanted);
      hidden[why] = (hidden[why] || 0) + 1;
      return !why;
    });
    groups = grouped(fitting);
    listed = 0;
    list.replaceChildren();
    extend();
    tally(hidden);
  }

  // As in the text report: of each block the finding that heads it, which comes first, with the others.
  function grouped(indexes) {
    const found = new Map();
    for (const index of indexes) {
      const key = form.elements.group.checked ? data.findings[index].group : index;
      if (found.has(key)) found.get(key).push(index); else found.set(key, [index]);
    }
    return [...found.values()];
  }

  const rowOf = (index) => rows[index] ??= row(data.findings[index], index);

  function entry([first, ...others]) {
    if (!others.length) return [rowOf(first)];
    const folded = element("details", {class: "others"}, element("summary", {},
      `${number(others.length)} more in ${data.findings[first].ownBlock || data.findings[first].block || "the same block"}`));
    folded.fill = () => { if (!folded.lastChild.id) folded.append(...others.map(rowOf)); };
    folded.addEventListener("toggle", () => { if (folded.open) folded.fill(); });
    return [rowOf(first), folded];
  }

  // Lists the next entries; the keyboard goes on at the first of them.
  function extend() {
    const next = groups.slice(listed, listed + PAGE);
    const made = next.flatMap(entry);
    list.append(...made);
    listed += next.length;
    more.hidden = listed === groups.length;
    more.textContent = `Show ${Math.min(PAGE, groups.length - listed)} more`;
    return made[0];
  }

  // Opens the finding that the fragment of the address names, whatever the filters hide.
  function follow() {
    const index = anchors.indexOf(location.hash.slice(1));
    if (index < 0 || !location.hash) return;
    if (!fitting.includes(index)) {
      const finding = data.findings[index];
      form.reset();
      form.elements[finding.level].checked = true;
      form.elements.known.checked = Boolean(finding.known || finding.suppressed);
      update();
    }
    const at = groups.findIndex((group) => group.includes(index));
    while (listed <= at) extend();
    if (groups[at][0] !== index) {
      const folded = rows[groups[at][0]].nextElementSibling;
      folded.fill();
      folded.open = true;
    }
    rows[index].open = true;
    fill(rows[index], data.findings[index]);
    const go = () => {
      rows[index].scrollIntoView();
      rows[index].firstChild.focus({preventScroll: true});
    };
    // The browser goes to the fragment, too, when all is loaded, and takes the focus away.
    if (document.readyState === "complete") go(); else window.addEventListener("load", () => setTimeout(go));
  }

  // Up and down lead from one entry to the next.
  function step(event) {
    if (!event.target.matches("#findings > details > summary, .others > details > summary") ||
        !/^Arrow(Up|Down)$/.test(event.key)) return;
    const all = [...list.querySelectorAll(":scope > details > summary, .others[open] > details > summary")];
    const next = all[all.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }

  let printed = []; // opened for paper, and closed after it
  function print() {
    printed = [...list.querySelectorAll(":scope > .finding, .others[open] > .finding")].slice(0, PRINTED)
      .filter((details) => !details.open);
    printed.forEach((details) => {
      fill(details, data.findings[rows.indexOf(details)]);
      details.open = true;
    });
  }

  main.replaceChildren(
    element("ul", {class: "overview", "aria-label": "Overview"}, ...tiles(),
      ...(data.timeline?.unit === "label" ? [element("li", {}, element("b", {}, number(fresh)), "new")] : [])),
    ...countedByBlock(), ...allOverTime(),
    ...data.parts.flatMap((part) => part.troubles.map((trouble) => element("p", {class: "trouble"},
      element("b", {}, `${part.path}: `), trouble))),
    form, element("h2", {}, "Findings"), shown, list, more, about());
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
  list.addEventListener("keydown", step);
  window.addEventListener("hashchange", follow);
  window.addEventListener("beforeprint", print);
  window.addEventListener("afterprint", () => printed.forEach((details) => { details.open = false; }));
  follow();
}

build();
})();
