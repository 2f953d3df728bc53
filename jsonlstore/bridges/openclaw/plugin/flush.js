// When the agent is asked to write down what must last: each threshold once per cycle of the window.
//
// The rules are those of `jsonlstore.context.flush`; tests hold both to fixtures/flush_cycles.json.

import { compactedAt, isCount, tokensUsed } from "./window.js";

const REARMED_BELOW = 25;
const MARKER = "[SYSTEM: memory flush]";
const SILENT = "NO_REPLY";
const THEN = "Store what must last, then answer the user.";
// what OpenClaw keeps free, and how long before that it would flush itself
const RESERVE = 20_000;
const SOFT = 4_000;
const LEAST_PROMPT = 8_000;
const WAYS = new Set(["system", "user", "marked"]);

export const DEFAULT_STAGES = [
  { percent: 50, prompt: "Context at 50%. Consider noting key decisions to memory.", injectAs: "marked" },
  { percent: 75, prompt: "Context at 75%. Write important context to memory/YYYY-MM-DD.md now.", injectAs: "marked" },
  {
    percent: 90,
    prompt:
      "[SYSTEM: pre-compaction memory flush]\nContext at 90%. Compaction imminent.\n" +
      "Store durable memories now (use memory/YYYY-MM-DD.md; create memory/ if needed).\n" +
      "If nothing to store, reply with NO_REPLY.",
    injectAs: "marked",
  },
];

/** The settings of `session.memoryFlush`; what is not valid there counts as not said, and the program warns of it. */
export function flushSettings(block = {}) {
  const { enabled, oncePerCycle, thresholds } = block && typeof block === "object" ? block : {};
  const stages = new Map();
  for (const one of Array.isArray(thresholds) ? thresholds : DEFAULT_STAGES) {
    const percent = one?.percent ?? 90;
    if (!Number.isInteger(percent) || percent < 1 || percent > 100 || stages.has(percent)) continue;
    if (typeof one?.prompt !== "string" || one.prompt === "") continue;
    stages.set(percent, { percent, prompt: one.prompt, injectAs: WAYS.has(one.injectAs) ? one.injectAs : "marked" });
  }
  const sorted = [...stages.values()].sort((a, b) => a.percent - b.percent);
  return { enabled: enabled !== false, once: oncePerCycle !== false, stages: sorted };
}

/** A cycle: the highest percentage that fired, and the compaction it began after (its time, 0 for none). */
export function newCycle() {
  return { fired: 0, compaction: 0 };
}

/** The stage that is due, and the cycle after it: the highest one reached fires and marks all lower ones. */
export function fire(cycle, percent, stages, { compaction = 0, once = true } = {}) {
  const emptied = compaction > cycle.compaction || percent < REARMED_BELOW;
  const now = emptied ? { fired: 0, compaction: Math.max(compaction, cycle.compaction) } : cycle;
  const stage = stages.findLast((one) => one.percent <= percent);
  if (!stage || (once && stage.percent <= now.fired)) return { stage: undefined, cycle: now };
  return { stage, cycle: { ...now, fired: stage.percent } };
}

/** What is said beside a user's prompt: nothing there may ask for silence, which would swallow the answer. */
export function flushText(stage, day, last = false) {
  const lines = stage.prompt.replaceAll("YYYY-MM-DD", day).split("\n").filter((line) => !line.includes(SILENT));
  if (last || stage.prompt.includes(SILENT)) lines.push(THEN);
  const text = lines.join("\n");
  return stage.injectAs === "marked" && !text.startsWith("[SYSTEM:") ? `${MARKER}\n${text}` : text;
}

/** How many tokens there are until OpenClaw flushes and compacts by itself: percentages are of these. */
export function usableTokens(window, { reserveTokens, reserveTokensFloor } = {}, version = "") {
  const [year, month] = String(version ?? "").split(".").map(Number);
  const floor = isAmount(reserveTokensFloor) ? reserveTokensFloor : RESERVE;
  let reserve = Math.max(isAmount(reserveTokens) ? reserveTokens : 0, floor);
  if (year > 2026 || (year === 2026 && month >= 9)) reserve = Math.min(RESERVE, Math.floor(window / 4));
  reserve = Math.min(reserve, window - Math.min(LEAST_PROMPT, Math.floor(window / 2)));
  return window - reserve - Math.min(SOFT, Math.floor((window - reserve) / 2));
}

function isAmount(value) {
  return Number.isFinite(value) && value >= 0;
}

/** Whether OpenClaw asks by itself shortly before it compacts: then that is the last stage, and ours is left out. */
export function asksItself(config) {
  if (config?.agents?.defaults?.compaction?.memoryFlush?.enabled === false) return false;
  return config?.plugins?.slots?.memory !== "none"; // since 2026.4 the memory plugin brings it
}

/** The prompts of one gateway. What is known of a session's cycle stands in its `flush`. */
export class FlushPrompts {
  #settings;
  #stages;
  #compaction;
  #version;

  constructor(block, config, version) {
    this.#settings = flushSettings(block);
    const { stages } = this.#settings;
    this.#stages = asksItself(config) ? stages.slice(0, -1) : stages;
    this.#compaction = config?.agents?.defaults?.compaction ?? {};
    this.#version = version;
  }

  get enabled() {
    return this.#settings.enabled && this.#stages.length > 0;
  }

  /**
   * What this prompt is given: `{ prompt, system }`, and `offered` the one time a stage fires.
   *
   * `run` names the turn: one that is tried again is given the same, and nothing is offered twice.
   */
  ask(session, { messages, prompt = "", window, run }) {
    const flush = session.flush;
    takeUp(flush, session.outcome?.value?.flush);
    const compaction = compactedAt(messages);
    const used = tokensUsed(messages);
    if (compaction > flush.cycle.compaction) Object.assign(flush, { system: undefined, given: undefined });
    if (run !== undefined && flush.given?.run === run) return { prompt: flush.given.text, system: flush.system };
    flush.given = undefined;
    if (used === undefined || !isCount(window)) return { prompt: undefined, system: flush.system };
    const usable = usableTokens(window, this.#compaction, this.#version);
    const tokens = used + Math.ceil(prompt.length / 4);
    const percent = (100 * tokens) / usable;
    const { stage, cycle } = fire(flush.cycle, percent, this.#stages, { compaction, once: this.#settings.once });
    if (cycle.fired === 0) flush.system = undefined;
    flush.cycle = cycle;
    if (!stage) return { prompt: undefined, system: flush.system };
    const text = flushText(stage, localDay(), stage.percent === this.#settings.stages.at(-1).percent);
    flush.system = stage.injectAs === "system" ? text : undefined;
    flush.given = stage.injectAs === "system" ? undefined : { run, text };
    const offered = { percent: stage.percent, at: new Date().toISOString(), compaction: cycle.compaction, tokens, window };
    return { prompt: flush.given?.text, system: flush.system, offered };
  }

  /** After a turn, for a version whose system prompt is made before its messages are shown: what the next one is given. */
  askAhead(session, { messages, window }) {
    const used = tokensUsed(messages);
    if (used === undefined || !isCount(window)) return undefined;
    const percent = (100 * used) / usableTokens(window, this.#compaction, this.#version);
    const options = { compaction: compactedAt(messages), once: this.#settings.once };
    const { stage } = fire(session.flush.cycle, percent, this.#stages, options);
    return stage?.injectAs === "system" ? this.ask(session, { messages, window }).offered : undefined;
  }
}

/** What a session's cycle is when this process meets it first: the program remembers what was offered before. */
function takeUp(flush, known) {
  if (flush.known || known === undefined) return;
  flush.known = true;
  if (Number.isInteger(known?.percent)) flush.cycle = { fired: known.percent, compaction: Number(known.compaction) || 0 };
}

export function newFlush() {
  return { cycle: newCycle(), known: false, system: undefined, given: undefined };
}

/** Today, where the gateway runs. */
function localDay(now = new Date()) {
  const two = (number) => String(number).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
