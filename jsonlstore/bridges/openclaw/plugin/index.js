// The OpenClaw plugin: brings back what earlier sessions left, once, in the first prompt of a new one.
//
// Works on 2026.2 to 2026.9. Everything that can fail is a child process behind a timeout; without an answer the turn
// goes on as if we were not here.

import { TOOL, TOOL_DESCRIPTION, TOOL_PARAMETERS, continueSession, continuity } from "./answers.js";
import { bridge as theBridge } from "./bridge.js";
import { hasHistory, isChore, isGivenIn, promptOf, reasonOf, toldBy, without } from "./conversation.js";

const FIRST = { priority: 100 };

export default {
  id: "jsonlstore",
  name: "jsonlstore",
  description: "Cross-session memory: what you were working on comes back when a new session starts.",
  register,
};

export function register(api) {
  const { command, timeoutMs, enabled } = api.pluginConfig ?? {};
  if (enabled === false) return;
  const bridge = theBridge().configure({
    command,
    timeoutMs,
    stateDir: stateDirOf(api),
    log: (line) => api.logger?.debug?.(line),
  });
  injectWith(bridge, api);
  reportWith(bridge, api);
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
    if (event?.sessionId) bridge.begins(event.sessionId);
  });
  on(api, "before_model_resolve", (event, context) => {
    const told = toldBy(context);
    if (!told) return;
    bridge.pluginSees(told.session_key);
    if (!isChore(event?.prompt, context)) bridge.prepare("plugin", told, knownOf(event));
  });
  on(
    api,
    "before_prompt_build",
    async (event, context) => {
      const told = toldBy(context);
      if (!told || isChore(event?.prompt, context) || hasHistory(event?.messages)) return undefined;
      const unanswered = Array.isArray(event?.messages);
      const preamble = await bridge.preamble("plugin", told, knownOf(event), { unanswered });
      return preamble ? { prependContext: preamble } : undefined;
    },
    FIRST,
  );
  // Up to 2026.3 the prompt is stored with what was put before it: there we take our block out again, so that it is
  // in no later turn. This must not be asynchronous.
  on(api, "before_message_write", (event, context) => {
    if (event?.message?.role !== "user") return undefined;
    const preamble = bridge.given(context?.sessionKey ?? event.sessionKey);
    const message = preamble && without(preamble, event.message);
    return message ? { message } : undefined;
  });
}

function reportWith(bridge, api) {
  on(api, "agent_end", (event, context) => {
    const told = toldBy(context);
    if (!told || isChore(undefined, context)) return; // what a heartbeat did is read with the next turn
    bridge.turned(told, { success: event?.success !== false && hasHistory(event?.messages) });
  });
  on(api, "session_end", (event, context) => {
    const told = toldBy(context, event);
    if (event?.sessionId) bridge.ended(event.sessionId, told?.session_key, event.reason);
    if (event?.sessionId && event.nextSessionId === event.sessionId) bridge.begins(event.sessionId);
  });
  api.registerService?.({ id: "jsonlstore", start: () => bridge.started("plugin"), stop: () => {} });
}

function offerWith(bridge, api) {
  const tool = (context) => ({
    name: TOOL,
    label: "Continue a session",
    description: TOOL_DESCRIPTION,
    parameters: TOOL_PARAMETERS,
    async execute(_id, given) {
      const told = toldBy(context) ?? bridge.current(context?.sessionKey)?.told;
      const text = await continueSession(bridge, told, given?.session_id);
      return { content: [{ type: "text", text }], details: {} };
    },
  });
  api.registerTool?.(tool, { name: TOOL, names: [TOOL] });
  api.registerCommand?.({
    name: "continuity",
    description: "Show what was restored into this session, and why.",
    acceptsArgs: false,
    requireAuth: true,
    handler: async (context) => ({ text: await continuity(bridge, whereIs(bridge, context)) }),
  });
}

/** The conversation a command was given in. Older versions do not say: then the only one seen, if that fits. */
function whereIs(bridge, context) {
  const told = toldBy(context);
  if (told) return told;
  const keys = bridge.keysOn(context?.channel);
  return keys.length === 1 && isGivenIn(keys[0], context) ? bridge.current(keys[0])?.told : undefined;
}

function knownOf(event) {
  const known = {};
  const prompt = promptOf(event);
  const reason = reasonOf(event);
  if (prompt) known.prompt = prompt;
  if (reason) known.reason = reason;
  return known;
}

/** Listen; a version that does not have the event, or does not let us, is none of the session's business. */
function on(api, name, handler, options) {
  const quiet = (problem) => api.logger?.debug?.(`jsonlstore: ${name}: ${problem?.message ?? problem}`);
  try {
    api.on(
      name,
      (event, context) => {
        try {
          const result = handler(event, context);
          return typeof result?.catch === "function" ? result.catch(quiet) : result;
        } catch (problem) {
          return quiet(problem);
        }
      },
      options,
    );
  } catch (problem) {
    quiet(problem);
  }
}
