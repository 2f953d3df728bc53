// A stand-in for the jsonlstore program: BEHAVIOUR LOG [jsonlstore's arguments]. Every call is noted in LOG.
//
// BEHAVIOUR may tell how many milliseconds pass between the work of a hook and its answer: "good,compacted=900".

import { appendFileSync, readFileSync } from "node:fs";

const [behaviours, log, ...words] = process.argv.slice(2);
const [behaviour, ...delays] = behaviours.split(",");
const event = words[words.indexOf("hook") + 1];
const input = readFileSync(0, "utf8");
appendFileSync(log, `${JSON.stringify({ words, input: input ? JSON.parse(input) : null, pid: process.pid })}\n`);

const BLOCK = '<session-continuity hint="inherited from prior sessions">\nPENDING TASKS\n</session-continuity>';
const SHORTER = BLOCK.replace("PENDING TASKS", "HOT TOPICS: boxes");
const NAMED = `${BLOCK}\n\nMEMORY FILES: memory/a.md`;
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

// what is known of a compaction when the work begins: an answer that is given late tells no more than that
const isNoted = readFileSync(log, "utf8").includes('"compacted-noted"');
const delay = Number(delays.find((one) => one.startsWith(`${event}=`))?.split("=")[1] ?? 0);
if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));

if (words.includes("continue")) {
  if (behaviour === "foreign") say({ error: { code: "out_of_scope", message: "belongs to another conversation" } });
  else if (behaviour === "strange")
    say({ error: { code: "out_of_scope", message: "session a1b2c3d4 belongs to another conversation" } });
  else if (behaviour === "ambiguous")
    say({ error: { code: "ambiguous_session_id", message: "'a' fits 2 sessions: a1b2c3d4, a9" } });
  else say({ reply: "Inherited from session a1b2c3d4", preamble: BLOCK });
} else if (event === "turn-end" || event === "session-end") {
  if (behaviour === "debug") process.stderr.write(`[session:debug] ${event}\n${"x".repeat(100000)}end\n`);
  const told = { closing: SHORTER, noting: isNoted ? NAMED : null };
  const block = behaviour in told && input.includes('"tell_block":true') ? { block: told[behaviour] } : {};
  if (behaviour === "ahead") Object.assign(block, { block: null, block_if_compacted: input.includes('"tell_compacted":true') ? NAMED : undefined });
  const first = readFileSync(log, "utf8").split('"turn-end"').length === 2;
  const window = behaviour === "once-told" && !first ? null : 200000; // after a compaction nothing is known for a turn
  say({ session_id: "stretch-2", updated: true, ...block, ...(input.includes('"tell_window":true') ? { window } : {}) });
  if (behaviour === "busy") await new Promise((resolve) => setTimeout(resolve, 300));
} else if (event === "flush-offered") {
  say({ session_id: "s", recorded: true });
} else if (event === "checkpoint") {
  if (behaviour === "cold") say({ session_id: "s", recorded: false });
  else if (JSON.parse(input).text) say({ session_id: "s", recorded: true });
  else say({ session_id: "s", at: "2026-01-01T00:00:00.000Z", prompt: "word it" });
} else if (event === "compacted") {
  appendFileSync(log, `${JSON.stringify({ words: ["hook", "compacted-noted"], input: null, pid: process.pid })}\n`);
  say({ session_id: "s", block: behaviour === "cold" ? null : NAMED });
} else if (event === "compact") {
  if (behaviour === "failing") process.exit(1);
  else if (behaviour === "hanging") setInterval(() => {}, 1000);
  else if (behaviour === "cold") say({ session_id: "s", summary: null, reason: "the conversation is not certain" });
  else if (behaviour === "garbage") process.stdout.write("Traceback (most recent call last):\n");
  else say({ session_id: "s", summary: "## Decisions\n- none known", from_checkpoint: true });
} else if (event === "session-task") {
  const task = { number: 1, task_id: "t-1", title: "paint the box", age: "3h ago" };
  const { action } = JSON.parse(input);
  if (behaviour === "foreign") say({ tasks: [], changed: [], error: "no open task is called 9" });
  else if (action === "list") say({ tasks: [task], changed: [] });
  else say({ tasks: [], changed: [task], block: SHORTER });
} else if (event === "handoff" && behaviour === "slow-handoff") {
  await new Promise((resolve) => setTimeout(resolve, 2500));
  appendFileSync(log, `${JSON.stringify({ words: ["hook", "handoff-finished"], input: null, pid: process.pid })}\n`);
} else if (event === "session-recall") {
  if (behaviour === "foreign") say({ text: null, error: "session a1b2c3d4 cannot be read" });
  else if (behaviour === "huge") say({ text: "x".repeat(5000), session_ids: [] });
  else say({ text: "<session-recall>quoted</session-recall>", session_ids: ["a1b2c3d4"] });
} else if (event === "session-start") {
  const restored = { session_id: "s", preamble: BLOCK, block: BLOCK, already_restored: false, pending_task_count: 2 };
  const candidate = { session_id: "abcdef1234", hours_elapsed: 3, score: 0.5, qualified: true, reason: "score" };
  const answers = {
    good: () => say({ ...restored, inherited_pins: [{}], candidates: [candidate] }),
    busy: () => say(restored),
    "slow-handoff": () => say(restored),
    resuming: () => say({ ...restored, handoff: { session_id: "a1b2c3d4", claimed: true, offer: null } }),
    closing: () => say(restored),
    debug: () => say(restored),
    foreign: () => say(restored),
    flushed: () => say({ session_id: "s", preamble: null, block: null, flush: { percent: 75, compaction: 0 }, window: 200000 }),
    "once-told": () => answers.cold(),
    noting: () => say({ session_id: "s", preamble: null, block: isNoted ? NAMED : null, already_restored: isNoted }),
    ahead: () => answers.cold(),
    cold: () => say({ session_id: "s", preamble: null, block: null, already_restored: false }),
    restored: () => say({ session_id: "s", preamble: null, block: BLOCK, already_restored: true }),
    unknown: () => say({ session_id: "s", preamble: null, block: input.includes("under_way") ? null : BLOCK }),
    failing: () => process.exit(1),
    garbage: () => process.stdout.write("Traceback (most recent call last):\n"),
    array: () => say([BLOCK]),
    odd: () => say({ block: { not: "a text" } }),
    error: () => say({ preamble: null, error: "the disk is full" }),
    huge: () => {
      process.stdout.on("error", () => process.exit(0));
      const more = () => {
        while (process.stdout.write("x".repeat(65536)));
        process.stdout.once("drain", more);
      };
      more();
    },
    hanging: () => setInterval(() => {}, 1000),
    late: () => setTimeout(() => say(restored), 30000),
  };
  answers[behaviour]();
}
