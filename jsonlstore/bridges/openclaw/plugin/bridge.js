// The one bridge of this process between OpenClaw and jsonlstore, shared by the plugin and the hook.
//
// It asks once per session (or stretch of one), keeps the answer, and lets everything that goes wrong be nothing.

import path from "node:path";
import { fileURLToPath } from "node:url";

import { Heartbeat, defaultStateDir, packageAt } from "./heartbeat.js";
import { commandOf, run } from "./program.js";

const REGISTRY = Symbol.for("jsonlstore.openclaw.bridge.1");
const VERSION = packageAt(path.dirname(fileURLToPath(import.meta.url)))?.version ?? null;
const TIMEOUT_MS = 2000;
const REPORT_MS = 30_000;
const CATCH_UP_MS = 600_000;
const MOST_SESSIONS = 500;
// a session ends for these while the conversation goes on: the process stops, or the runtime tidies up
const NOT_AN_END = new Set(["shutdown", "restart", "compaction", "unknown"]);

/** The bridge of this process: OpenClaw loads a plugin several times, and plugin and hook each by themselves. */
export function bridge() {
  globalThis[REGISTRY] ??= new Bridge();
  return globalThis[REGISTRY];
}

export class Bridge {
  #command = commandOf();
  #timeoutMs = TIMEOUT_MS;
  #stateDir = defaultStateDir();
  #log = () => {};
  #sessions = new Map();
  #current = new Map();
  #plugin = new Set();
  #waiting = new Map();
  #reporting = undefined;
  #heartbeat;

  /** Take over the settings; the last one to load knows them best. */
  configure({ command, timeoutMs, stateDir, log } = {}) {
    this.#command = commandOf(command);
    this.#timeoutMs = Number.isFinite(timeoutMs) && timeoutMs > 0 ? timeoutMs : TIMEOUT_MS;
    if (stateDir && stateDir !== this.#stateDir) {
      this.#stateDir = stateDir;
      this.#heartbeat = undefined;
    }
    if (log) this.#log = log;
    return this;
  }

  get heartbeat() {
    this.#heartbeat ??= new Heartbeat(this.#stateDir, VERSION);
    return this.#heartbeat;
  }

  // what the runtime tells

  /** The gateway has started: catch up with what was written while nobody looked. */
  started(way) {
    this.heartbeat.loaded(way);
    this.#report("catch-up", {});
  }

  /** A session, or a new stretch of one, begins. */
  begins(sessionId) {
    this.#keep(sessionId, { announced: true });
  }

  /** The plugin is asked about this conversation's prompts: the hook need not be. */
  pluginSees(sessionKey) {
    this.#plugin.delete(sessionKey); // the latest last
    this.#plugin.add(sessionKey);
    if (this.#plugin.size > MOST_SESSIONS) this.#plugin.delete(this.#plugin.keys().next().value);
  }

  isPlugins(sessionKey) {
    return this.#plugin.has(sessionKey);
  }

  /** The session a conversation is in, as far as this process has seen it. */
  current(sessionKey) {
    return this.#sessions.get(this.#current.get(sessionKey));
  }

  /** The conversations seen on a channel, for those who are not told which one they are in. */
  keysOn(channel) {
    const keys = [...this.#current.keys()];
    return keys.filter((key) => channel === undefined || this.current(key)?.told?.channel === channel);
  }

  // what a session gets

  /** Begin to ask, if this session was announced as new, so that its first turn waits less. */
  prepare(way, told, known) {
    const session = this.#meet(told);
    if (session.announced && session.turns === 0) this.#answer(session, way, known, Date.now() + this.#timeoutMs);
  }

  /**
   * What goes before the first prompt of a session; nothing if there is nothing, and the same again for the same turn.
   *
   * `unanswered`: the caller has seen that nobody got an answer in this session yet.
   */
  async preamble(way, told, known, { unanswered = false } = {}) {
    const asked = Date.now();
    const deadline = asked + this.#timeoutMs;
    let session = this.#meet(told);
    // turns we know of, and no trace of them: a reset nobody told us of. It is asked for, but not insisted on
    if (unanswered && session.turns > 0) session = this.#keep(told.session_id, { again: true });
    const answer = this.#answer(session, way, known, deadline);
    if (answer === undefined) return undefined; // the other way in has it
    let outcome = await answer;
    if (outcome.value?.already_restored && unanswered) {
      // given to a turn that never came to its end: the process died in the middle of it
      if (!session.again) session.answer = this.#ask(session, { ...known, again: true }, deadline);
      session.again = true;
      outcome = await session.answer;
    }
    const isNews = session.outcome === undefined;
    session.outcome = outcome;
    const text = outcome.value?.preamble;
    session.preamble = typeof text === "string" && text !== "" ? text : undefined;
    const problem = outcome.problem ?? (outcome.value?.error ? "error" : undefined);
    const detail = outcome.detail ?? outcome.value?.error;
    if (problem && isNews) this.#log(`jsonlstore: nothing restored (${problem}: ${String(detail).slice(0, 200)})`);
    this.heartbeat.fired({
      path: way,
      last_result: session.preamble ? "preamble" : (problem ?? "nothing"),
      last_error: problem ? String(detail).slice(0, 200) : null,
      last_wait_ms: Date.now() - asked,
      session_id: told.session_id,
    });
    return session.preamble;
  }

  /** Whether this session, as it stands, was answered before. */
  isAnswered(sessionId) {
    return this.#sessions.get(sessionId)?.outcome !== undefined;
  }

  /** The block that was put before a prompt of this conversation, if one was. */
  given(sessionKey) {
    return this.current(sessionKey)?.preamble;
  }

  // what is reported

  /** A turn is over. */
  turned(told, { success = true } = {}) {
    const session = this.#meet(told);
    if (success) session.turns += 1;
    const { session_id, session_key, agent_id, channel } = told;
    this.#report("turn-end", { session_id, session_key, agent_id, channel, catch_up: true });
  }

  /** The runtime is done with a session; one it only puts aside goes on. */
  ended(sessionId, sessionKey, reason) {
    if (NOT_AN_END.has(reason)) return;
    const why = reason === "deleted" ? "delete" : reason;
    const session = this.#sessions.get(sessionId);
    const { session_key, agent_id, channel } = { session_key: sessionKey, ...session?.told };
    if (!session_key) return; // nobody's that we know of: what is on disk tells
    this.#report("session-end", { session_id: sessionId, session_key, agent_id, channel, reason: why, catch_up: true });
  }

  /** Run the program for somebody who waits for it. */
  call(words, input, timeoutMs = 10_000) {
    return run(this.#command, ["--state-dir", this.#stateDir, ...words], { input, timeoutMs });
  }

  // inside

  #meet(told) {
    const session = this.#sessions.get(told.session_id) ?? this.#keep(told.session_id);
    session.told = { ...session.told, ...told };
    this.#current.set(told.session_key, told.session_id);
    return session;
  }

  /** A session from its start; what an earlier stretch of it still waits for is no business of this one. */
  #keep(sessionId, known) {
    const session = { ...fresh(), told: this.#sessions.get(sessionId)?.told, ...known };
    this.#sessions.set(sessionId, session);
    if (this.#sessions.size > MOST_SESSIONS) {
      const oldest = this.#sessions.keys().next().value;
      const key = this.#sessions.get(oldest)?.told?.session_key;
      this.#sessions.delete(oldest);
      if (this.#current.get(key) === oldest) this.#current.delete(key);
    }
    return session;
  }

  #answer(session, way, known, deadline) {
    session.way ??= way;
    if (session.way !== way) return undefined;
    session.answer ??= this.#ask(session, known, deadline);
    return session.answer;
  }

  async #ask(session, known, deadline) {
    await this.#quiet(session.told.session_key, (deadline - Date.now()) / 2);
    const input = { ...session.told, ...known, pid: process.pid };
    const timeoutMs = Math.max(50, deadline - Date.now());
    return run(this.#command, ["--state-dir", this.#stateDir, "hook", "session-start"], { input, timeoutMs });
  }

  /** What the turn before this one left is worth a moment's wait. */
  async #quiet(sessionKey, mostMs) {
    const concerned = () =>
      this.#reporting?.session_key === sessionKey ||
      [...this.#waiting.values()].some(({ input }) => input.session_key === sessionKey);
    if (!concerned()) return;
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, mostMs, true);
    });
    while (concerned()) {
      if (await Promise.race([this.#reporting?.done, late])) break;
    }
    clearTimeout(timer);
  }

  /** One report at a time, the latest of each kind: a burst of turns becomes two processes, not twenty. */
  #report(event, input) {
    this.#waiting.delete(`${event}:${input.session_id}`);
    this.#waiting.set(`${event}:${input.session_id}`, { event, input });
    if (!this.#reporting) this.#next();
  }

  #next() {
    const first = this.#waiting.entries().next();
    if (first.done) {
      this.#reporting = undefined;
      return;
    }
    const [key, { event, input }] = first.value;
    this.#waiting.delete(key);
    const words = event === "catch-up" ? ["-q", "watch", "--once", "--if-unwatched"] : ["hook", event];
    const timeoutMs = event === "catch-up" ? CATCH_UP_MS : REPORT_MS;
    const done = new Promise((resolve) => {
      const patience = setTimeout(resolve, CATCH_UP_MS);
      patience.unref?.();
      const onExit = () => {
        clearTimeout(patience);
        resolve();
      };
      run(this.#command, ["--state-dir", this.#stateDir, ...words], { input, timeoutMs, onExit });
    });
    this.#reporting = { session_key: input.session_key, done: done.then(() => this.#next()) };
  }
}

function fresh() {
  return {
    announced: false,
    turns: 0,
    again: false,
    way: undefined,
    answer: undefined,
    outcome: undefined,
    preamble: undefined,
  };
}
