"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const rows = JSON.parse($("rows").textContent);
  const details = new Array(rows.length); // filled as blocks are unpacked; a hole is a session without details
  const STEP = 100; // rows drawn at once: thousands would make typing wait
  const lower = (text) => String(text).toLowerCase();

  // every text is put on the page as text: nothing here reads markup
  function el(name, props, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(props || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "class") made.className = value;
      else if (key === "onclick") made.addEventListener("click", value);
      else made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  }

  // --- details, unpacked after the first paint
  async function unpack(block) {
    const bytes = Uint8Array.from(atob(block.textContent), (char) => char.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const first = Number(block.dataset.first);
    JSON.parse(await new Response(plain).text()).forEach((one, at) => {
      details[first + at] = one;
      haystacks[first + at] = undefined;
      haystack(first + at); // now, so that the first letter typed does not wait for it
    });
    block.remove();
  }
  let unpacked = null;
  function unpackAll() {
    unpacked ??= (async () => {
      if (typeof DecompressionStream === "undefined") return;
      for (const block of [...document.querySelectorAll("script.block")]) {
        await unpack(block);
        await new Promise((done) => setTimeout(done)); // typing goes before
      }
      update();
      document.documentElement.dataset.ready = "yes";
    })();
    return unpacked;
  }

  // --- search, filters, sort
  const haystacks = [];
  function texts(value, out) {
    if (typeof value === "string") out.push(value);
    else if (value && typeof value === "object") for (const item of Object.values(value)) texts(item, out);
    return out;
  }
  const haystack = (at) => (haystacks[at] ??= lower(texts([rows[at], details[at]], []).join("\n")));
  const PICKS = ["agent", "channel", "end"];
  const order = { key: "at", down: true };
  let found = [];
  let drawn = 0;
  let current = -1;

  function matches(at, words) {
    const row = rows[at];
    const project = $("project").value;
    const day = (row.at || "").slice(0, 10);
    if (project && !(row.projects || []).includes(project)) return false;
    if (PICKS.some((key) => $(key).value && (row[key] || "") !== $(key).value)) return false;
    if (($("from").value && day < $("from").value) || ($("to").value && day > $("to").value)) return false;
    if ($("open-tasks").checked && !row.tasks) return false;
    return words.every((word) => haystack(at).includes(word));
  }
  function compare(one, other) {
    const value = (at) => { const held = rows[at][order.key]; return Array.isArray(held) ? held[0] : held; };
    const [a, b] = [value(one), value(other)];
    if (a === b) return one - other;
    if (a === undefined) return 1; // what is not known stands last, whichever way
    if (b === undefined) return -1;
    const less = typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1;
    return order.down ? -less : less;
  }
  function update() {
    const words = lower($("search").value).split(/\s+/).filter(Boolean);
    found = [...rows.keys()].filter((at) => matches(at, words)).sort(compare);
    const kept = new Set(found);
    for (const mark of document.querySelectorAll("svg [data-row]")) mark.classList.toggle("out", !kept.has(Number(mark.dataset.row)));
    $("count").textContent = found.length === rows.length ? `${rows.length.toLocaleString("en")} sessions` : `${found.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} sessions`;
    $("table").tBodies[0].replaceChildren();
    drawn = 0;
    current = -1;
    draw(STEP);
  }
  function lasted(minutes) {
    if (minutes === undefined) return "";
    if (minutes >= 1440) return `${Math.floor(minutes / 1440)}d ${Math.floor((minutes % 1440) / 60)}h`;
    return minutes >= 60 ? `${Math.floor(minutes / 60)}h ${minutes % 60}m` : `${minutes}m`;
  }
  function draw(count) {
    const body = $("table").tBodies[0];
    for (const at of found.slice(drawn, drawn + count)) {
      const row = rows[at];
      const share = row.used && row.window ? ` ${Math.round((100 * row.used) / row.window)}%` : "";
      const dot = el("i", { class: `dot${row.lane >= 0 ? ` c${row.lane % 12}` : ""}` });
      body.append(el("tr", { "data-at": at },
        el("td", {}, el("button", { type: "button", class: "link" }, row.at || row.id)),
        el("td", { class: "number dim" }, lasted(row.min)),
        el("td", { title: (row.projects || []).join(", ") }, row.projects ? dot : "", el("bdi", {}, (row.projects || []).join(", "))),
        el("td", { title: (row.topics || []).join(", ") }, (row.topics || []).join(" · ")),
        el("td", { class: "dim" }, row.channel || ""),
        el("td", { class: row.end === "crash" ? "bad" : row.end === "open" ? "warm" : "dim" }, row.end || ""),
        el("td", { class: "number" }, row.tasks ? String(row.tasks) : ""),
        el("td", { class: "number dim" }, row.used ? `${Math.round(row.used / 1000)}k${share}` : "", row.compactions ? ` ⟲${row.compactions}` : "")));
    }
    drawn = Math.min(found.length, drawn + count);
    $("rest").hidden = drawn >= found.length;
  }
  function choices(id, values) {
    const different = [...new Set(values.filter(Boolean))].sort();
    for (const value of different) $(id).append(el("option", { value }, value));
    $(id).parentElement.hidden = different.length < 2; // nothing to choose
  }

  // --- the panel: state, chain, preamble
  const panel = $("panel");
  let shown = -1;
  let tab = "state";
  function open(at) {
    shown = at;
    $("panel-h").textContent = `${rows[at].at || ""}  ${(rows[at].projects || []).join(", ")}`.trim() || rows[at].id;
    show();
    if (!panel.open) panel.showModal();
    history.replaceState(null, "", `#session=${encodeURIComponent(rows[at].id)}`);
    if (!details[at]) unpackAll().then(() => { if (shown === at) show(); });
  }
  function show() {
    for (const name of ["state", "chain", "preamble"]) {
      $(`tab-${name}`).setAttribute("aria-selected", String(name === tab));
      $(`tab-${name}`).tabIndex = name === tab ? 0 : -1;
    }
    $("part").setAttribute("aria-labelledby", `tab-${tab}`);
    $("part").replaceChildren(...{ state, chain, preamble }[tab](shown).filter(Boolean));
    $("part").scrollTop = 0;
  }
  function jump(place, text) {
    if (place === null || place === undefined) return null;
    if (typeof place === "string") return el("span", { class: "dim" }, `${place} (not in this report)`);
    return el("button", { type: "button", class: "link", onclick: () => open(place) }, text || rows[place].at || rows[place].id);
  }
  const list = (title, items) => (items && items.length ? [el("h3", {}, title), el("ul", {}, ...items.map((item) => el("li", {}, item)))] : []);
  const missing = (at) => el("p", { class: "dim" }, `Left out to keep this file small: jsonlstore show ${rows[at].id}`);

  function state(at) {
    const row = rows[at];
    const told = details[at];
    const facts = [["Session", row.id], ["Lasted", lasted(row.min)], ["Ended", [row.end, told && told.ended].filter(Boolean).join(", ")], ["Agent", row.agent], ["Channel", row.channel],
      ["Conversation", told && told.key], ["Projects", (row.projects || []).join(", ")], ["Topics", ((told && told.topics) || row.topics || []).join(", ")],
      ["Tokens", row.used ? row.used.toLocaleString("en") + (row.window ? ` of ${row.window.toLocaleString("en")}` : "") : ""], ["Compactions", row.compactions ? String(row.compactions) : ""],
      ["Learnings", told && told.learnings ? String(told.learnings) : ""], ["Trimmed", told && told.trimmed ? Object.entries(told.trimmed).map(([what, count]) => `${what} ${count}`).join(", ") : ""]];
    const out = [el("dl", {}, ...facts.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]))];
    if (!told) return [...out, missing(at)];
    const notes = (kind) => (told.notes || []).filter(([type]) => type === kind).map(([, text, , resolved]) => text + (resolved ? " (resolved)" : ""));
    const rest = (told.notes || []).filter(([type]) => !["decision", "blocker", "accomplishment"].includes(type)).map(([type, text]) => `${type}: ${text}`);
    return [...out,
      ...list("Next step", told.next ? [told.next] : []),
      ...list("Open tasks", (told.tasks || []).map(([id, title, stage]) => `${title || id}${stage ? ` (${stage})` : ""}`)),
      ...list("In progress", told.progress),
      ...list("Blockers", notes("blocker")),
      ...list("Still failing", told.failing ? [told.failing.filter(Boolean).join(": ")] : []),
      ...list("Open questions", told.questions),
      ...list("Decisions", notes("decision")),
      ...list("Last request", told.request ? [`“${told.request[0]}”${told.request[1] ? ` (${told.request[1]})` : ""}`] : []),
      ...list("Last answer", told.answer ? [`“${told.answer}”`] : []),
      ...list("Done", [...(told.closed || []).map(([title, how]) => title + (how ? ` (${how})` : "")), ...notes("accomplishment")]),
      ...list("Commits", (told.commits || []).map(([sha, subject]) => `${sha ? `${sha.slice(0, 9)} ` : ""}${subject}`)),
      ...list("Files", (told.files || []).map(([path, changes, dirty]) => `${path}, ${changes} change${changes === 1 ? "" : "s"}${dirty ? ", not committed" : ""}`)),
      ...list("Standing rules", told.constraints),
      ...list("Pins", (told.pins || []).map(([label, content]) => (label ? `${label}: ${content}` : content))),
      ...list("Other notes", rest)];
  }
  function chain(at) {
    const before = [];
    const seen = new Set([at]);
    let place = rows[at].prev;
    while (typeof place === "number" && !seen.has(place) && before.length < 20) { seen.add(place); before.unshift(place); place = rows[place].prev; }
    const item = (one) => {
      if (typeof one === "string") return el("li", {}, jump(one));
      const about = el("div", { class: "dim" }, [(rows[one].projects || []).join(", "), (rows[one].topics || []).slice(0, 4).join(" · ")].filter(Boolean).join("  —  "));
      return el("li", { class: one === at ? "here" : "" }, one === at ? el("strong", {}, rows[one].at || rows[one].id) : jump(one), about);
    };
    const first = typeof place === "string" ? [place] : [];
    const after = rows[at].next === null || rows[at].next === undefined ? [] : [rows[at].next];
    const all = [...first, ...before, at, ...after];
    return [el("p", { class: "dim" }, all.length === 1 ? "Nothing came before it, and nothing continued it." : "Oldest first."), el("ol", { class: "chain" }, ...all.map(item))];
  }
  const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const ARRIVED = {
    yes: "It was seen in what the model was sent.",
    no: "It was given, and was not in what the model was sent.",
    unconfirmed: "Whether it reached the model is not known.",
  };
  function preamble(at) {
    const told = details[at];
    if (!told) return [missing(at)];
    if (!told.restores) return [el("p", { class: "dim" }, "Nothing was restored into this session.")];
    return told.restores.flatMap((one) => [
      el("h3", {}, `${one.at}${one.forced ? ", by hand" : ""}`),
      el("p", {}, `${counted(one.tasks.length, "task")} and ${counted(one.pins, "pin")}`, one.from.length ? ` from ${one.from.map((id, n) => `${id}${one.scores[n] === undefined ? "" : ` (${one.scores[n]})`}`).join(", ")}` : "", `. ${ARRIVED[one.arrived] || ""}`),
      one.text ? el("pre", {}, one.text) : el("p", { class: "dim" }, "The text itself was not kept."),
    ]);
  }

  // --- wiring
  choices("project", rows.flatMap((row) => row.projects || []));
  for (const key of PICKS) choices(key, rows.map((row) => row[key]));
  $("filters").addEventListener("input", update);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => setTimeout(update));
  $("rest").firstElementChild.addEventListener("click", () => draw(STEP));
  if (typeof IntersectionObserver !== "undefined") new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) draw(STEP); }, { rootMargin: "600px" }).observe($("rest"));
  $("table").tHead.addEventListener("click", (event) => {
    const key = event.target.dataset.sort;
    if (!key) return;
    order.down = order.key === key ? !order.down : key !== "projects" && key !== "channel" && key !== "end";
    order.key = key;
    for (const head of $("table").tHead.rows[0].cells) head.removeAttribute("aria-sort");
    event.target.parentElement.setAttribute("aria-sort", order.down ? "descending" : "ascending");
    update();
  });
  $("table").tBodies[0].addEventListener("click", (event) => {
    const line = event.target.closest("tr");
    if (line) { mark([...line.parentElement.children].indexOf(line)); tab = "state"; open(Number(line.dataset.at)); }
  });
  document.querySelector("main").addEventListener("click", (event) => {
    const { row, day, project, search, more } = event.target.dataset;
    if (row !== undefined) { tab = event.target.dataset.tab || "state"; open(Number(row)); }
    if (more !== undefined) { event.target.closest("section").classList.add("all"); event.target.parentElement.remove(); }
    const set = (id, value) => { $(id).value = value; };
    if (day) { set("from", day); set("to", day); }
    if (project) set("project", project);
    if (search) set("search", search);
    if (day || project || search) { update(); $("sessions").scrollIntoView(); }
  });
  function mark(at) {
    const lines = $("table").tBodies[0].rows;
    if (at >= lines.length) draw(STEP);
    if (at < 0 || at >= lines.length) return false;
    if (lines[current]) lines[current].classList.remove("current");
    current = at;
    lines[at].classList.add("current");
    return true;
  }
  function step(by) {
    if (!mark(current + by)) return;
    const line = $("table").tBodies[0].rows[current];
    if (panel.open) open(Number(line.dataset.at));
    else { line.querySelector("button").focus(); line.scrollIntoView({ block: "nearest" }); }
  }
  for (const [id, by] of [["older", 1], ["newer", -1]]) $(id).addEventListener("click", () => step(by));
  $("close").addEventListener("click", () => panel.close());
  panel.addEventListener("close", () => history.replaceState(null, "", "#sessions"));
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });
  for (const name of ["state", "chain", "preamble"]) $(`tab-${name}`).addEventListener("click", () => { tab = name; show(); });
  document.querySelector(".tabs").addEventListener("keydown", (event) => {
    const names = ["state", "chain", "preamble"];
    const by = { ArrowRight: 1, ArrowLeft: 2 }[event.key];
    if (by) { tab = names[(names.indexOf(tab) + by) % 3]; show(); $(`tab-${tab}`).focus(); }
  });
  const flip = () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  };
  $("theme").addEventListener("click", flip);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      if (event.key === "Escape" && event.target.id === "search") event.target.blur();
      return;
    }
    if (event.key === "/") { event.preventDefault(); $("search").focus(); $("search").select(); }
    else if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "t") flip();
  });
  const tip = $("tip");
  document.addEventListener("pointermove", (event) => {
    const mine = event.target.closest ? event.target.closest("svg [data-row], svg [data-count]") : null;
    tip.hidden = !mine;
    if (!mine) return;
    const { row, day, week, count } = mine.dataset;
    if (row !== undefined) {
      const one = rows[Number(row)];
      tip.textContent = [`${one.at || ""}  ${lasted(one.min)}`, (one.projects || []).join(", "), (one.topics || []).slice(0, 4).join(" · "), one.used && one.window ? `${Math.round((100 * one.used) / one.window)}% of the window` : ""].filter(Boolean).join("\n");
    } else tip.textContent = `${week ? "week of " : ""}${week || day}: ${count} session${count === "1" ? "" : "s"}`;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
  });
  addEventListener("beforeprint", () => draw(found.length));
  update();
  const asked = /^#session=(.+)$/.exec(location.hash);
  if (asked) {
    const at = rows.findIndex((row) => row.id === decodeURIComponent(asked[1]));
    if (at >= 0) open(at);
  }
  // after the first paint: two frames from now it has happened
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(unpackAll)));
})();
