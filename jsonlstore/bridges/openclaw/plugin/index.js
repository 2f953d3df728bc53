// The OpenClaw plugin: brings back what earlier sessions left, and keeps it in view on every turn of the new one.
//
// Works on 2026.2 to 2026.9. Everything that can fail runs in a child process behind a timeout; without an answer the
// turn goes on as if the plugin were not there.

import { TOOL, TOOL_DESCRIPTION, TOOL_PARAMETERS, continueSession, continuity } from "./answers.js";
import { addAsBootstrapFile, addFlushAsBootstrapFile } from "./bootstrap.js";
import { bridge as theBridge } from "./bridge.js";
import { modelSettings, wordCheckpoint } from "./checkpoint.js";
import { compactWith } from "./compaction.js";
import { hasHistory, isBackgroundTurn, mayBelongTo, promptOf, reasonOf, identify, without } from "./conversation.js";
import { FlushPrompts } from "./flush.js";
import { handOverWith } from "./handoff.js";
import { openclawVersion } from "./heartbeat.js";
import { RECALL_DESCRIPTION, RECALL_PARAMETERS, RECALL_TOOL, recallSessions } from "./recall.js";
import { TASK_DESCRIPTION, TASK_PARAMETERS, TASK_TOOL, changeTasks } from "./tasks.js";

const FIRST = { priority: 100 };

export default {
  id: "jsonlstore",
  name: "jsonlstore",
  description: "Cross-session memory: what you were working on comes back when a new session starts.",
  register,
};

export function register(api) {
  const { command, timeoutMs, enabled, context_line: contextLine, restore_for: restoreFor } = api.pluginConfig ?? {};
  if (enabled === false) return;
  const flush = new FlushPrompts(api.pluginConfig?.session?.memoryFlush, api.config, openclawVersion());
  const bridge = theBridge().configure({
    command,
    timeoutMs,
    stateDir: stateDirOf(api),
    showContext: contextLine === true,
    restoreFor: restoreFor ?? "session",
    flush,
    log: (line) => api.logger?.debug?.(line),
  });
  injectWith(bridge, api);
  reportWith(bridge, api);
  watchDeliveryWith(bridge, api);
  if (contextLine === true || flush.enabled) watchWindowWith(bridge, api);
  offerWith(bridge, api);
  compactWith(bridge, api, on);
  if (api.pluginConfig?.handoff?.enabled !== false) handOverWith(bridge, api, on, conversationOf);
}

function stateDirOf(api) {
  try {
    return api.runtime?.state?.resolveStateDir?.();
  } catch {
    return undefined;
  }
}

// where a block can stand: at the end of the system prompt, among the workspace's files, or before the first prompt
const SYSTEM_PROMPT = "system prompt";
const BOOTSTRAP = "bootstrap";
const PROMPT = "prompt";

/** The best place this version has. It is not stored with the conversation, but for the last. */
function placeFor(api, version = openclawVersion()) {
  const [year, month] = String(version ?? "").split(".").map(Number);
  const appends = year ? year > 2026 || month >= 4 : typeof api.registerCompactionProvider === "function";
  if (appends) return SYSTEM_PROMPT;
  // where these hooks are not switched on a listener is registered without an error, and never called
  const listens = typeof api.registerHook === "function" && api.config?.hooks?.internal?.enabled === true;
  return listens ? BOOTSTRAP : PROMPT;
}

/** Whether this version is known to show prompts before it stores them; of others it is learnt in the first turn. */
function showsPrompts(version = openclawVersion()) {
  const [year, month, patch] = String(version ?? "").split(".").map((part) => parseInt(part, 10));
  return year === 2026 && (month === 3 || (month === 2 && patch >= 26));
}

/** Listen to `agent:bootstrap`. A listener of `register()` is wiped when the gateway starts: this is called later. */
function listenToBootstrap(bridge, api) {
  // a gateway may drop its listeners again: one that was not called in the turn before is registered anew
  if (bridge.bootstrapHeard) {
    bridge.bootstrapHeard = false;
    return;
  }
  const listener = async (event) => {
    bridge.bootstrapHeard = true;
    const session = bridge.current(event?.sessionKey ?? event?.context?.sessionKey);
    if (session?.background) return;
    await addAsBootstrapFile(bridge, "plugin", event, session?.known);
    addFlushAsBootstrapFile(bridge, event);
  };
  try {
    api.registerHook("agent:bootstrap", listener, { name: "jsonlstore-bootstrap" });
  } catch (problem) {
    api.logger?.debug?.(`jsonlstore: agent:bootstrap: ${problem?.message ?? problem}`);
  }
}

function injectWith(bridge, api) {
  const place = placeFor(api);
  if (showsPrompts()) bridge.takesOut = true; // also in the first turn after a restart
  on(api, "session_start", (event) => {
    if (event?.sessionId) bridge.sessionStarts(event.sessionId);
  });
  on(api, "before_model_resolve", (event, context) => {
    const identity = identify(context);
    if (!identity) return;
    bridge.claimForPlugin(identity.session_key);
    const background = isBackgroundTurn(event?.prompt, context);
    const known = factsOfPrompt(event);
    bridge.turnBegins(identity, { background, known });
    if (place === BOOTSTRAP) listenToBootstrap(bridge, api);
    if (!background) bridge.prepare("plugin", identity, known);
  });
  on(
    api,
    "before_prompt_build",
    async (event, context) => {
      const identity = identify(context);
      if (!identity || isBackgroundTurn(event?.prompt, context)) return undefined;
      const answered = Array.isArray(event?.messages) ? hasHistory(event.messages) : undefined;
      bridge.compactionsSeen(identity, event?.messages);
      const ask = () => bridge.block("plugin", identity, factsOfPrompt(event), { answered });
      // this line is never in the system prompt: what changes each turn would void the provider's prompt cache
      const line = bridge.contextLine(identity, event?.messages);
      const withOffer = () => {
        const { prompt, system } = bridge.flushFor(identity, event, context?.runId);
        const text = [bridge.offerLine(identity), line, prompt].filter(Boolean).join("\n\n");
        return { text, system };
      };
      if (place === SYSTEM_PROMPT) {
        const block = await ask();
        const { text, system } = withOffer();
        return given({ appendSystemContext: [block, system].filter(Boolean).join("\n\n"), prependContext: text });
      }
      if (place === BOOTSTRAP) return given({ prependContext: withOffer().text });
      // once, unless it is known that stored prompts pass by us: else it would stand in every stored message
      const block = answered && !bridge.takesOut ? undefined : await ask();
      bridge.prependedIn(identity, block);
      const { text, system } = withOffer();
      return given({ prependContext: [block, bridge.takesOut ? system : undefined, text].filter(Boolean).join("\n\n") });
    },
    FIRST,
  );
  // Up to 2026.3 the prompt is stored with what was put before it: there we take our blocks out again, so that they are
  // in no later turn. This must not be asynchronous.
  on(api, "before_message_write", (event, context) => {
    if (event?.message?.role !== "user") return undefined;
    const key = context?.sessionKey ?? event.sessionKey;
    bridge.takesOut = true;
    bridge.promptIsStored(key, event.message);
    const blocks = bridge.injected(key);
    const message = blocks.reduce((stored, block) => without(block, stored) ?? stored, event.message);
    return message === event.message ? undefined : { message };
  });
}

/** Look whether the block is in what the model is sent; only then its delivery is known. */
function watchDeliveryWith(bridge, api) {
  on(api, "llm_input", (event, context) => {
    const identity = identify(context, event);
    if (identity) bridge.modelIsSent(identity, event);
  });
}

/** What a hook answers: only what there is, and nothing if there is nothing. */
function given(parts) {
  const there = Object.entries(parts).filter(([, text]) => text);
  return there.length > 0 ? Object.fromEntries(there) : undefined;
}

/** Since 2026.7 OpenClaw says with each answer how large the window is. */
function watchWindowWith(bridge, api) {
  on(api, "llm_output", (event, context) => {
    const identity = identify(context, event);
    if (identity) bridge.windowIs(identity.session_id, event?.contextTokenBudget);
  });
}

const wording = new Set(); // the sessions whose checkpoint a model is wording

function reportWith(bridge, api) {
  const model = modelSettings(api);
  on(api, "agent_end", (event, context) => {
    const identity = identify(context);
    if (!identity || isBackgroundTurn(undefined, context)) return; // what a heartbeat did is read with the next turn
    const success = event?.success !== false && hasHistory(event?.messages);
    bridge.turnEnded(identity, { success, messages: event?.messages, ahead: placeFor(api) === BOOTSTRAP });
    if (!model || !success) return;
    // nobody waits for it: it is no part of the turn, and where no watcher runs the turn's report makes the checkpoint
    bridge.reported(identity.session_key).then(() => wordCheckpoint(bridge, identity, model, wording)).catch(() => {});
  });
  on(api, "session_end", (event, context) => {
    const identity = identify(context, event);
    if (event?.sessionId) bridge.sessionEnded(event.sessionId, identity?.session_key, event.reason);
    if (event?.sessionId && event.nextSessionId === event.sessionId) bridge.sessionStarts(event.sessionId);
  });
  api.registerService?.({ id: "jsonlstore", start: () => bridge.gatewayStarted("plugin"), stop: () => {} });
}

function offerWith(bridge, api) {
  const tool = (context) => ({
    name: TOOL,
    label: "Continue a session",
    description: TOOL_DESCRIPTION,
    parameters: TOOL_PARAMETERS,
    async execute(_id, given) {
      const identity = identify(context) ?? bridge.current(context?.sessionKey)?.identity;
      const text = await continueSession(bridge, identity, given?.session_id);
      return { content: [{ type: "text", text }], details: {} };
    },
  });
  api.registerTool?.(tool, { name: TOOL, names: [TOOL] });
  const recall = (context) => ({
    name: RECALL_TOOL,
    label: "Recall earlier sessions",
    description: RECALL_DESCRIPTION,
    parameters: RECALL_PARAMETERS,
    async execute(_id, given) {
      const identity = identify(context) ?? bridge.current(context?.sessionKey)?.identity;
      const text = await recallSessions(bridge, identity, given);
      return { content: [{ type: "text", text }], details: {} };
    },
  });
  api.registerTool?.(recall, { name: RECALL_TOOL, names: [RECALL_TOOL] });
  const tasks = (context) => ({
    name: TASK_TOOL,
    label: "Open tasks",
    description: TASK_DESCRIPTION,
    parameters: TASK_PARAMETERS,
    async execute(_id, given) {
      const identity = identify(context) ?? bridge.current(context?.sessionKey)?.identity;
      const text = await changeTasks(bridge, identity, { action: given?.action, task: given?.task, by: "agent" });
      return { content: [{ type: "text", text }], details: {} };
    },
  });
  api.registerTool?.(tasks, { name: TASK_TOOL, names: [TASK_TOOL] });
  api.registerCommand?.({
    name: "continuity",
    description: "Show what was restored into this session, and why; `done N` closes a task.",
    acceptsArgs: true,
    requireAuth: true,
    handler: async (context) => ({ text: await commanded(bridge, context) }),
  });
}

/** `/continuity`, or `/continuity done 2` and the other words of the task list. */
function commanded(bridge, context) {
  const identity = conversationOf(bridge, context);
  const [, action, task] = /^\s*(\S+)\s*([^]*)$/.exec(context?.args ?? "") ?? [];
  if (!action) return continuity(bridge, identity);
  return changeTasks(bridge, identity, { action: action.toLowerCase(), task, by: "chat" });
}

/** The conversation a command was given in. Older versions do not say: then the only one seen, if that fits. */
function conversationOf(bridge, context) {
  const identity = identify(context);
  if (identity) return identity;
  const keys = bridge.conversationsOn(context?.channel);
  return keys.length === 1 && mayBelongTo(keys[0], context) ? bridge.current(keys[0])?.identity : undefined;
}

function factsOfPrompt(event) {
  const known = {};
  const prompt = promptOf(event);
  const reason = reasonOf(event);
  if (prompt) known.prompt = prompt;
  if (reason) known.reason = reason;
  return known;
}

/** Listen to an event. A version without it, or one that refuses the listener, only costs a line in the debug log. */
function on(api, name, handler, options) {
  const logFailure = (problem) => api.logger?.debug?.(`jsonlstore: ${name}: ${problem?.message ?? problem}`);
  try {
    api.on(
      name,
      (event, context) => {
        try {
          const result = handler(event, context);
          return typeof result?.catch === "function" ? result.catch(logFailure) : result;
        } catch (problem) {
          return logFailure(problem);
        }
      },
      options,
    );
  } catch (problem) {
    logFailure(problem);
  }
}
