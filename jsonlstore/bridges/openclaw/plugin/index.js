// The OpenClaw plugin: brings back what earlier sessions left, once, in the first prompt of a new one.
//
// Works on 2026.2 to 2026.9. Everything that can fail runs in a child process behind a timeout; without an answer the
// turn goes on as if the plugin were not there.

import { TOOL, TOOL_DESCRIPTION, TOOL_PARAMETERS, continueSession, continuity } from "./answers.js";
import { bridge as theBridge } from "./bridge.js";
import { hasHistory, isBackgroundTurn, mayBelongTo, promptOf, reasonOf, identify, without } from "./conversation.js";
import { RECALL_DESCRIPTION, RECALL_PARAMETERS, RECALL_TOOL, recallSessions } from "./recall.js";

const FIRST = { priority: 100 };

export default {
  id: "jsonlstore",
  name: "jsonlstore",
  description: "Cross-session memory: what you were working on comes back when a new session starts.",
  register,
};

export function register(api) {
  const { command, timeoutMs, enabled, context_line: contextLine } = api.pluginConfig ?? {};
  if (enabled === false) return;
  const bridge = theBridge().configure({
    command,
    timeoutMs,
    stateDir: stateDirOf(api),
    showContext: contextLine === true,
    log: (line) => api.logger?.debug?.(line),
  });
  injectWith(bridge, api);
  reportWith(bridge, api);
  if (contextLine === true) watchWindowWith(bridge, api);
  offerWith(bridge, api);
}

function stateDirOf(api) {
  try {
    return api.runtime?.state?.resolveStateDir?.();
  } catch {
    return undefined;
  }
}

function injectWith(bridge, api) {
  on(api, "session_start", (event) => {
    if (event?.sessionId) bridge.sessionStarts(event.sessionId);
  });
  on(api, "before_model_resolve", (event, context) => {
    const identity = identify(context);
    if (!identity) return;
    bridge.claimForPlugin(identity.session_key);
    if (!isBackgroundTurn(event?.prompt, context)) bridge.prepare("plugin", identity, factsOfPrompt(event));
  });
  on(
    api,
    "before_prompt_build",
    async (event, context) => {
      const identity = identify(context);
      if (!identity || isBackgroundTurn(event?.prompt, context)) return undefined;
      const unanswered = Array.isArray(event?.messages);
      const isStart = !hasHistory(event?.messages);
      const preamble = isStart ? await bridge.preamble("plugin", identity, factsOfPrompt(event), { unanswered }) : "";
      // never in the system prompt: text that changes each turn would void the provider's prompt cache
      const blocks = [preamble, bridge.contextLine(identity, event?.messages)].filter(Boolean);
      return blocks.length > 0 ? { prependContext: blocks.join("\n\n") } : undefined;
    },
    FIRST,
  );
  // Up to 2026.3 the prompt is stored with what was put before it: there we take our blocks out again, so that they are
  // in no later turn. This must not be asynchronous.
  on(api, "before_message_write", (event, context) => {
    if (event?.message?.role !== "user") return undefined;
    const blocks = bridge.injected(context?.sessionKey ?? event.sessionKey);
    const message = blocks.reduce((stored, block) => without(block, stored) ?? stored, event.message);
    return message === event.message ? undefined : { message };
  });
}

/** Since 2026.7 OpenClaw says with each answer how large the window is. */
function watchWindowWith(bridge, api) {
  on(api, "llm_output", (event, context) => {
    const identity = identify(context, event);
    if (identity) bridge.windowIs(identity.session_id, event?.contextTokenBudget);
  });
}

function reportWith(bridge, api) {
  on(api, "agent_end", (event, context) => {
    const identity = identify(context);
    if (!identity || isBackgroundTurn(undefined, context)) return; // what a heartbeat did is read with the next turn
    bridge.turnEnded(identity, { success: event?.success !== false && hasHistory(event?.messages) });
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
  api.registerCommand?.({
    name: "continuity",
    description: "Show what was restored into this session, and why.",
    acceptsArgs: false,
    requireAuth: true,
    handler: async (context) => ({ text: await continuity(bridge, conversationOf(bridge, context)) }),
  });
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
