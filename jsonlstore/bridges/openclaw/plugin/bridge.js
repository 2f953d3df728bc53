// The one bridge of this process between OpenClaw and jsonlstore, shared by the plugin and the hook.
//
// It asks once per session (or stretch of one) and keeps the answer. Whatever goes wrong restores nothing.

import path from "node:path";
import { fileURLToPath } from "node:url";

import { Heartbeat, defaultStateDir, packageAt } from "./heartbeat.js";
import { commandOf, run } from "./program.js";
import { contextLine, isCount } from "./window.js";

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
  #showsContext = false;
  #claimed = new Set();
  #waiting = new Map();
  #reporting = undefined;
  #heartbeat;

  /** Apply the settings. The module loaded last has the newest ones. */
  configure({ command, timeoutMs, stateDir, log, showContext } = {}) {
    this.#command = commandOf(command);
    if (showContext !== undefined) this.#showsContext = showContext; // the hook has no such setting
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

  // events of the runtime

  /** The gateway has started: catch up with what was written while nobody looked. */
  gatewayStarted(via) {
    this.heartbeat.loaded(via);
    this.#report("catch-up", {});
  }

  /** A session, or a new stretch of one, begins. */
  sessionStarts(sessionId) {
    this.#startSession(sessionId, { announced: true });
  }

  /** The plugin handles this conversation's prompts, so the hook must not. */
  claimForPlugin(sessionKey) {
    this.#claimed.delete(sessionKey); // the latest last
    this.#claimed.add(sessionKey);
    if (this.#claimed.size > MOST_SESSIONS) this.#claimed.delete(this.#claimed.keys().next().value);
  }

  isClaimedByPlugin(sessionKey) {
    return this.#claimed.has(sessionKey);
  }

  /** The session a conversation is in, as far as this process has seen it. */
  current(sessionKey) {
    return this.#sessions.get(this.#current.get(sessionKey));
  }

  /** The conversations seen on a channel, for commands that are not told which one they were given in. */
  conversationsOn(channel) {
    const keys = [...this.#current.keys()];
    return keys.filter((key) => channel === undefined || this.current(key)?.identity?.channel === channel);
  }

  // preambles

  /** Ask ahead for a session that was announced as new, so that its first turn waits less. */
  prepare(via, identity, known) {
    const session = this.#lookUp(identity);
    if (session.announced && session.turns === 0) this.#answer(session, via, known, Date.now() + this.#timeoutMs);
  }

  /**
   * The preamble of a session's first prompt, if there is one. Asked again for the same turn, it is the same.
   *
   * `unanswered`: the caller saw that this session holds no answer yet.
   */
  async preamble(via, identity, known, { unanswered = false } = {}) {
    const asked = Date.now();
    const deadline = asked + this.#timeoutMs;
    let session = this.#lookUp(identity);
    // we counted turns and the session holds none: it was reset without an event, so ask as for a new stretch
    if (unanswered && session.turns > 0) session = this.#startSession(identity.session_id, { again: true });
    const answer = this.#answer(session, via, known, deadline);
    if (answer === undefined) return undefined; // the hook or the plugin, whichever came first, has it
    let outcome = await answer;
    if (outcome.value?.already_restored && unanswered) {
      // the turn it was given to never ended: the process died in the middle of it
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
      path: via,
      last_result: session.preamble ? "preamble" : (problem ?? "nothing"),
      last_error: problem ? String(detail).slice(0, 200) : null,
      last_wait_ms: Date.now() - asked,
      session_id: identity.session_id,
    });
    return session.preamble;
  }

  /** Whether this session, as it stands, was answered before. */
  isAnswered(sessionId) {
    return this.#sessions.get(sessionId)?.outcome !== undefined;
  }

  /** The window of the model that answers in a session. */
  windowIs(sessionId, window) {
    const session = this.#sessions.get(sessionId);
    if (session && isCount(window)) session.window = window;
  }

  /** How full the context of this turn is, if the user wants it told and it is known. */
  contextLine(identity, messages) {
    const session = this.#lookUp(identity);
    const window = session.window ?? session.windowOnDisk;
    session.contextLine = this.#showsContext ? contextLine(messages, window) : undefined;
    return session.contextLine;
  }

  /** The blocks that were put before a prompt of this conversation and may be stored with it. */
  injected(sessionKey) {
    const session = this.current(sessionKey);
    // a version that tells the window stores no blocks: there such a line is the user's own, a quotation
    const line = session?.window === undefined ? session?.contextLine : undefined;
    return [session?.preamble, line].filter(Boolean);
  }

  // reports to jsonlstore

  /** A turn is over. */
  turnEnded(identity, { success = true } = {}) {
    const session = this.#lookUp(identity);
    if (success) session.turns += 1;
    const { session_id, session_key, agent_id, channel } = identity;
    const wanted = this.#showsContext ? { tell_window: true } : {};
    this.#report("turn-end", { session_id, session_key, agent_id, channel, catch_up: true, ...wanted });
  }

  /** The runtime is done with a session; one it only puts aside goes on. */
  sessionEnded(sessionId, sessionKey, reason) {
    if (NOT_AN_END.has(reason)) return;
    const why = reason === "deleted" ? "delete" : reason;
    const session = this.#sessions.get(sessionId);
    const { session_key, agent_id, channel } = { session_key: sessionKey, ...session?.identity };
    if (!session_key) return; // not a conversation we know: the watcher reads its end from disk
    this.#report("session-end", { session_id: sessionId, session_key, agent_id, channel, reason: why, catch_up: true });
  }

  /** Run the program for somebody who waits for it. */
  call(words, input, timeoutMs = 10_000) {
    return run(this.#command, ["--state-dir", this.#stateDir, ...words], { input, timeoutMs });
  }

  // private

  #lookUp(identity) {
    const session = this.#sessions.get(identity.session_id) ?? this.#startSession(identity.session_id);
    session.identity = { ...session.identity, ...identity };
    this.#current.set(identity.session_key, identity.session_id);
    return session;
  }

  /** Older versions tell the window to nobody but their session index, which the program reads. */
  #noteWindowOnDisk(sessionId, window) {
    const session = this.#sessions.get(sessionId);
    if (session) session.windowOnDisk = isCount(window) ? window : undefined;
  }

  /** Forget what an earlier stretch of this session asked for: a new one begins. */
  #startSession(sessionId, known) {
    const session = { ...newSession(), identity: this.#sessions.get(sessionId)?.identity, ...known };
    this.#sessions.set(sessionId, session);
    if (this.#sessions.size > MOST_SESSIONS) {
      const oldest = this.#sessions.keys().next().value;
      const key = this.#sessions.get(oldest)?.identity?.session_key;
      this.#sessions.delete(oldest);
      if (this.#current.get(key) === oldest) this.#current.delete(key);
    }
    return session;
  }

  #answer(session, via, known, deadline) {
    session.via ??= via;
    if (session.via !== via) return undefined;
    session.answer ??= this.#ask(session, known, deadline);
    return session.answer;
  }

  async #ask(session, known, deadline) {
    await this.#waitForReports(session.identity.session_key, (deadline - Date.now()) / 2);
    const input = { ...session.identity, ...known, pid: process.pid };
    const timeoutMs = Math.max(50, deadline - Date.now());
    return run(this.#command, ["--state-dir", this.#stateDir, "hook", "session-start"], { input, timeoutMs });
  }

  /** Wait a moment for the report of the turn before, so that the preamble knows of it. */
  async #waitForReports(sessionKey, mostMs) {
    const hasReports = () =>
      this.#reporting?.session_key === sessionKey ||
      [...this.#waiting.values()].some(({ input }) => input.session_key === sessionKey);
    if (!hasReports()) return;
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, mostMs, true);
    });
    while (hasReports()) {
      if (await Promise.race([this.#reporting?.done, late])) break;
    }
    clearTimeout(timer);
  }

  /** Send one report at a time, the latest of each kind: a burst of turns becomes two processes, not twenty. */
  #report(event, input) {
    this.#waiting.delete(`${event}:${input.session_id}`);
    this.#waiting.set(`${event}:${input.session_id}`, { event, input });
    if (!this.#reporting) this.#sendNextReport();
  }

  #sendNextReport() {
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
      const answer = run(this.#command, ["--state-dir", this.#stateDir, ...words], { input, timeoutMs, onExit });
      if (input.tell_window) answer.then(({ value }) => this.#noteWindowOnDisk(input.session_id, value?.window));
    });
    this.#reporting = { session_key: input.session_key, done: done.then(() => this.#sendNextReport()) };
  }
}

function newSession() {
  return {
    announced: false,
    turns: 0,
    again: false,
    via: undefined,
    answer: undefined,
    outcome: undefined,
    preamble: undefined,
    window: undefined,
    windowOnDisk: undefined,
    contextLine: undefined,
  };
}
