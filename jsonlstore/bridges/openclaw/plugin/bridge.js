// The one bridge of this process between OpenClaw and jsonlstore, shared by the plugin and the hook.
//
// It asks once per session (or stretch of one), keeps the answer and gives it to every turn. Whatever goes wrong
// restores nothing.

import path from "node:path";
import { fileURLToPath } from "node:url";

import { summarize } from "./compaction.js";
import { without } from "./conversation.js";
import { given, looked, newDelivery } from "./delivery.js";
import { newFlush } from "./flush.js";
import { Heartbeat, defaultStateDir, packageAt } from "./heartbeat.js";
import { commandOf, run } from "./program.js";
import { Trace } from "./trace.js";
import { compactedAt, contextLine, isCount, memoryCalls } from "./window.js";

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
  #flush = undefined;
  #firstTurnOnly = false;
  #claimed = new Set();
  #waiting = new Map();
  #reporting = undefined;
  #heartbeat;
  #trace;
  compactions = new Map(); // announced and not over, by conversation
  takesOut = false; // whether this version shows prompts before it stores them

  /** Apply the settings. The module loaded last has the newest ones. */
  configure({ command, timeoutMs, stateDir, log, showContext, restoreFor, flush } = {}) {
    this.#command = commandOf(command);
    if (restoreFor !== undefined) this.#firstTurnOnly = restoreFor === "first_turn";
    if (showContext !== undefined) this.#showsContext = showContext; // the hook has no such setting
    if (flush !== undefined) this.#flush = flush.enabled ? flush : undefined;
    this.#timeoutMs = Number.isFinite(timeoutMs) && timeoutMs > 0 ? timeoutMs : TIMEOUT_MS;
    if (stateDir && stateDir !== this.#stateDir) {
      this.#stateDir = stateDir;
      this.#heartbeat = undefined;
      this.#trace = undefined;
    }
    if (log) this.#log = log;
    return this;
  }

  get heartbeat() {
    this.#heartbeat ??= new Heartbeat(this.#stateDir, VERSION);
    return this.#heartbeat;
  }

  get trace() {
    this.#trace ??= new Trace(this.heartbeat.folder);
    return this.#trace;
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

  /** What the turn that begins now is: the runtime's own, or a person's with these words. */
  turnBegins(identity, { background, known }) {
    Object.assign(this.#lookUp(identity), { background, known });
  }

  // blocks

  /** Ask ahead for a session that was announced as new, so that its first turn waits less. */
  prepare(via, identity, known) {
    const session = this.#lookUp(identity);
    if (session.announced && session.turns === 0) this.#answer(session, via, known, Date.now() + this.#timeoutMs);
  }

  /**
   * The block of a session, if there is one: the same on every turn.
   *
   * `answered`: whether the caller saw an answer in this session; `undefined` where it cannot see its messages.
   */
  async block(via, identity, known, { answered } = {}) {
    const deadline = Date.now() + this.#timeoutMs;
    let session = this.#lookUp(identity);
    // we counted turns and the session holds none: it was reset without an event, so ask as for a new stretch
    if (answered === false && session.turns > 0) session = this.#startSession(identity.session_id);
    const isFirstTurn = answered === undefined ? session.outcome === undefined : !answered;
    if (this.#firstTurnOnly && !isFirstTurn) return undefined;
    if (session.outcome?.problem && session.turns > session.failedAt && !session.triedAgain) {
      Object.assign(session, { answer: undefined, triedAgain: true });
    }
    const told = session.sawStart ? known : { ...known, ...historyAs(answered) };
    session.sawStart ||= answered === false;
    const answer = this.#answer(session, via, told, deadline);
    if (answer === undefined) return undefined; // the hook or the plugin, whichever came first, has it
    const outcome = await answer;
    await this.#compactionNoted(session, deadline); // the block names what was written before it
    session.awaited = session.compacted; // one turn waits for it, no other
    if (session.outcome !== outcome) this.#settle(session, outcome, via);
    if (this.#firstTurnOnly && outcome.value?.already_restored && answered !== false) return undefined;
    if (session.block) given(session.delivery);
    session.givenBlock = session.block;
    if (via === "hook" && session.told) this.#refresh(session, known); // nobody reports turns there: ask for the next one
    session.told = true;
    return session.block;
  }

  /** The block of a session changed: something in it was closed. */
  blockIs(sessionId, block) {
    const session = this.#sessions.get(sessionId);
    if (session?.outcome) this.#changeBlock(session, block);
  }

  /** What the model is about to be sent: whether the block is in there is known from here on. */
  modelIsSent(identity, sent) {
    const session = this.#lookUp(identity);
    if (session.background || !looked(session.delivery, session.givenBlock, sent)) return;
    this.heartbeat.noted({ delivery: { ...session.delivery, session_id: identity.session_id } });
  }

  /** A prompt is stored as the model was sent it: where the block stands before it, it arrived. */
  promptIsStored(sessionKey, message) {
    const session = this.current(sessionKey);
    if (!session?.prepended || !without(session.prepended, message)) return;
    looked(session.delivery, session.prepended, { historyMessages: [message] });
    this.heartbeat.noted({ delivery: { ...session.delivery, session_id: session.identity.session_id } });
  }

  async #refresh(session, known) {
    if (session.refreshing || this.#firstTurnOnly) return;
    session.refreshing = true;
    const input = { ...session.identity, ...known, under_way: true, pid: process.pid };
    const since = session.changes;
    const { value } = await this.call(["hook", "session-start"], input);
    session.refreshing = false;
    if (value?.already_restored) this.#takeBlock(session, value, since);
  }

  /** Take an answer in, and report it once: a turn that only reuses it costs nothing. */
  #settle(session, outcome, via) {
    session.outcome = outcome;
    session.failedAt = session.turns;
    const problem = outcome.problem ?? (outcome.value?.error ? "error" : undefined);
    if (!problem) this.#changeBlock(session, outcome.value?.block); // else what was told before is still true
    const detail = outcome.detail ?? outcome.value?.error;
    if (problem) this.#log(`jsonlstore: nothing restored (${problem}: ${String(detail).slice(0, 200)})`);
    this.heartbeat.fired({
      path: via,
      last_result: session.block ? "preamble" : (problem ?? "nothing"),
      last_error: problem ? String(detail).slice(0, 200) : null,
      last_wait_ms: Date.now() - session.askedAt,
      delivery: { ...session.delivery, given_at: session.block ? new Date().toISOString() : null, session_id: session.identity.session_id },
      session_id: session.identity.session_id,
    });
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

  /** What a prompt is given so that the agent writes down what must last: `{ prompt, system }`, mostly neither. */
  flushFor(identity, event, run) {
    const session = this.#lookUp(identity);
    const window = session.window ?? session.lastWindow ?? session.outcome?.value?.window;
    const asked = this.#flush?.ask(session, { messages: event?.messages, prompt: String(event?.prompt ?? ""), window, run });
    if (asked?.offered) this.#flushOffered(session, asked.offered);
    return asked ?? {};
  }

  /** The context of a session is compacted: what stood in its system prompt until then goes. */
  compactionBegins(sessionKey) {
    const session = this.current(sessionKey);
    if (session) session.flush.system = undefined;
  }

  /** A compaction is over: from now on the block names the memory files that were written before it. */
  compactionEnded(sessionKey, announced) {
    const session = this.current(sessionKey) ?? (announced ? this.#lookUp(announced) : undefined);
    if (!session?.identity) return;
    const { ahead } = session;
    if (ahead && ahead.now === session.block) this.#changeBlock(session, ahead.compacted); // true even if the answer is late
    session.compacted = this.#noteCompaction(session);
  }

  /** What the messages of a turn say of compactions: one that nobody announced is over, too. */
  compactionsSeen(identity, messages) {
    const session = this.#lookUp(identity);
    const at = compactedAt(messages);
    const missed = session.compactedAt !== undefined && at > session.compactedAt && session.compacted === session.seenCompacted;
    if (at > (session.compactedAt ?? 0) || session.compactedAt === undefined) session.compactedAt = at;
    if (missed) this.compactionEnded(identity.session_key);
    session.seenCompacted = session.compacted;
  }

  /** The summary of a session that is compacted, for a version in which the session is known by its id. */
  async summaryFor(sessionId, messages, previousSummary) {
    const announced = [...this.compactions.values()].find((one) => one.identity.session_id === sessionId);
    const identity = this.#sessions.get(sessionId)?.identity ?? announced?.identity;
    return identity ? summarize(this, messages, previousSummary, identity) : "";
  }

  /** The line of the system prompt that stays until the next stage, for a version that makes it before all else. */
  flushInSystemPrompt(sessionKey) {
    return this.current(sessionKey)?.flush.system;
  }

  #flushOffered(session, offered) {
    const { session_id, session_key, agent_id, channel } = session.identity;
    session.settlesFlush = true;
    this.#report("flush-offered", { session_id, session_key, agent_id, channel, flush: offered });
  }

  /** The line that offers to continue, with the first prompt of a session and no other. */
  offerLine(identity) {
    const session = this.#lookUp(identity);
    const line = session.turns === 0 ? session.outcome?.value?.handoff?.offer : undefined;
    session.offer = typeof line === "string" && line !== "" ? line : undefined;
    return session.offer;
  }

  /** Ask once more, for a handoff that somebody wants: from now on its block is the session's. */
  async resume(identity, wanted) {
    const session = this.#lookUp(identity);
    const input = { ...session.identity, resume: wanted, pid: process.pid };
    const outcome = await this.call(["hook", "session-start"], input);
    if (outcome.value && !outcome.value.error && outcome.value.block) {
      session.answer = Promise.resolve(outcome);
      session.askedAt = Date.now();
      this.#settle(session, outcome, (session.via ??= "plugin"));
    }
    return outcome;
  }

  /** A block was put before a prompt, for want of a better place. */
  prependedIn(identity, block) {
    this.#lookUp(identity).prepended = block;
  }

  /** The blocks that were put before a prompt of this conversation and may be stored with it. */
  injected(sessionKey) {
    const session = this.current(sessionKey);
    // a version that tells the window stores no blocks: there such a line is the user's own, a quotation
    const line = session?.window === undefined ? session?.contextLine : undefined;
    const stored = session?.window === undefined ? [session?.offer, session?.flush.given?.text, session?.flush.system] : [];
    return [session?.prepended, ...stored, line].filter(Boolean);
  }

  // reports to jsonlstore

  /** A turn is over. */
  turnEnded(identity, { success = true, messages, ahead = false } = {}) {
    const session = this.#lookUp(identity);
    if (success) session.turns += 1;
    const { session_id, session_key, agent_id, channel } = identity;
    const wanted = this.#showsContext || this.#flush ? { tell_window: true } : {};
    if (session.settlesFlush) wanted.settle_flush = true;
    session.settlesFlush = false;
    if (ahead) this.#askAhead(session, messages);
    if (session.outcome?.value && !this.#firstTurnOnly) {
      wanted.tell_block = true;
      const written = memoryCalls(messages);
      if (written !== session.memoryCalls) wanted.tell_compacted = true;
      session.memoryCalls = written;
    }
    this.#report("turn-end", { session_id, session_key, agent_id, channel, catch_up: true, ...wanted }, session);
  }

  /** When the reports of a conversation so far have done their work, or have taken too long. */
  reported(sessionKey) {
    return this.#waitForReports(sessionKey, CATCH_UP_MS, { holds: false });
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

  /** Run the program for somebody who waits for it; one that is left finishes its work though nobody waits any more. */
  call(words, input, timeoutMs = 10_000, { leave = false } = {}) {
    return this.#run(words, { input, timeoutMs, leave });
  }

  // private

  /** Every call goes through here: what it says on stderr is kept for the operator. */
  #run(words, options) {
    const kind = words.filter((word) => !word.startsWith("-")).slice(0, 2).join(" ");
    const onStderr = (text) => void this.trace.keep(kind, text);
    return run(this.#command, ["--state-dir", this.#stateDir, ...words], { ...options, onStderr });
  }

  #lookUp(identity) {
    const session = this.#sessions.get(identity.session_id) ?? this.#startSession(identity.session_id);
    session.identity = { ...session.identity, ...identity };
    this.#current.set(identity.session_key, identity.session_id);
    return session;
  }

  /** What the next system prompt is given, for a version that makes it first; where no window is known yet, once it is. */
  #askAhead(session, messages) {
    const window = session.lastWindow ?? session.outcome?.value?.window;
    session.askAheadOf = isCount(window) ? undefined : messages;
    const offered = this.#flush?.askAhead(session, { messages, window });
    if (offered) this.#flushOffered(session, offered);
  }

  /** Older versions tell the window to nobody but their session index, which the program reads. */
  #noteWindowOnDisk(sessionId, window) {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    session.windowOnDisk = isCount(window) ? window : undefined;
    session.lastWindow = session.windowOnDisk ?? session.lastWindow; // the index tells none for a turn after a compaction
    if (session.askAheadOf && session.lastWindow) this.#askAhead(session, session.askAheadOf);
  }

  /** It may take as long as a report: no turn waits that long, but one that comes later has the answer. */
  async #noteCompaction(session) {
    const { session_id, session_key, agent_id, channel } = session.identity;
    const since = session.changes;
    const { value } = await this.call(["hook", "compacted"], { session_id, session_key, agent_id, channel }, REPORT_MS);
    if (!tellsBlock(value)) return;
    if (since === session.changes) this.#changeBlock(session, value.block);
    else await this.#noteCompaction(session); // the block changed meanwhile, and the answer may not know of it
  }

  /** Wait until the last compaction is noted, or until `deadline`; not if a turn has waited for it already. */
  async #compactionNoted(session, deadline) {
    if (session.awaited === session.compacted) return;
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, Math.max(0, deadline - Date.now()));
    });
    await Promise.race([session.compacted, late]);
    clearTimeout(timer);
  }

  /** What a report says of the block: a line is gone if the session closed something in it. */
  #takeBlock(session, value, since) {
    // a report that began before the block changed may not know of it; the next one does
    if (!tellsBlock(value) || since !== session.changes) return;
    session.block = textOf(value.block);
    const compacted = textOf(value.block_if_compacted);
    if (compacted) session.ahead = { now: session.block, compacted };
  }

  #changeBlock(session, block) {
    session.block = textOf(block);
    session.changes += 1;
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
    session.askedAt = Date.now();
    const half = (deadline - Date.now()) / 2;
    const reports = this.#waitForReports(session.identity.session_key, half);
    await Promise.all([reports, this.#compactionNoted(session, Date.now() + half)]);
    const input = { ...session.identity, ...known, pid: process.pid, ...(this.#flush ? { tell_flush: true } : {}) };
    const timeoutMs = Math.max(50, deadline - Date.now());
    return this.#run(["hook", "session-start"], { input, timeoutMs });
  }

  /** Wait a moment for the report of the turn before, so that the preamble knows of it. */
  async #waitForReports(sessionKey, mostMs, { holds = true } = {}) {
    const hasReports = () =>
      this.#reporting?.session_key === sessionKey ||
      [...this.#waiting.values()].some(({ input }) => input.session_key === sessionKey);
    if (!hasReports()) return;
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, mostMs, true);
      if (!holds) timer.unref?.(); // what nobody waits for keeps no process alive
    });
    while (hasReports()) {
      if (await Promise.race([this.#reporting?.done, late])) break;
    }
    clearTimeout(timer);
  }

  /** Send one report at a time, the latest of each kind: a burst of turns becomes two processes, not twenty. */
  #report(event, input, session) {
    const key = `${event}:${input.session_id}`;
    const wanted = { ...this.#waiting.get(key)?.input, ...input }; // what the report it replaces was to ask is still asked
    this.#waiting.delete(key);
    this.#waiting.set(key, { event, input: wanted, session });
    if (!this.#reporting) this.#sendNextReport();
  }

  #sendNextReport() {
    const first = this.#waiting.entries().next();
    if (first.done) {
      this.#reporting = undefined;
      return;
    }
    const [key, { event, input, session }] = first.value;
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
      const since = session?.changes;
      const answer = this.#run(words, { input, timeoutMs, onExit });
      if (input.tell_block) answer.then(({ value }) => this.#takeBlock(session, value, since));
      if (input.tell_window) answer.then(({ value }) => this.#noteWindowOnDisk(input.session_id, value?.window));
    });
    this.#reporting = { session_key: input.session_key, done: done.then(() => this.#sendNextReport()) };
  }
}

/** What the program is told of a session's past: that it has one, that it has none, or to look for itself. */
function historyAs(answered) {
  if (answered === undefined) return { check_history: true };
  return answered ? { under_way: true } : {};
}

function tellsBlock(value) {
  return Boolean(value) && !value.error && value.block !== undefined;
}

function textOf(block) {
  return typeof block === "string" && block !== "" ? block : undefined;
}

function newSession() {
  return {
    announced: false,
    background: false,
    known: {},
    turns: 0,
    sawStart: false,
    triedAgain: false,
    failedAt: 0,
    askedAt: undefined,
    via: undefined,
    answer: undefined,
    outcome: undefined,
    block: undefined,
    changes: 0, // of the block, but for what reports say of it
    givenBlock: undefined,
    told: false,
    refreshing: false,
    delivery: newDelivery(),
    prepended: undefined,
    window: undefined,
    windowOnDisk: undefined,
    lastWindow: undefined,
    askAheadOf: undefined,
    contextLine: undefined,
    offer: undefined,
    flush: newFlush(),
    settlesFlush: false,
    memoryCalls: 0, // that the latest report knew of
    ahead: undefined, // the block, and what it becomes if the context is compacted now
    compacted: undefined,
    awaited: undefined,
    seenCompacted: undefined,
    compactedAt: undefined,
  };
}
