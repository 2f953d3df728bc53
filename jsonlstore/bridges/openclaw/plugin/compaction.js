// Compaction without a model: our checkpoint as OpenClaw's summary, where its settings name us as provider.
//
// A provider is told no session. It is found from the compaction that was announced just before and from the messages;
// on any doubt nothing is returned, and OpenClaw writes its own summary, as it does when ours fails or is late.

import { identify } from "./conversation.js";
import { tokensUsed } from "./window.js";

export const PROVIDER = "jsonlstore";
const ANSWER_MS = 2000;
const ANNOUNCED_MS = 120_000;
const MOST_TIMES = 8;
const SPEAKERS = new Set(["user", "assistant"]);

/** Offer the summary, and follow compactions. */
export function compactWith(bridge, api, on) {
  on(api, "before_compaction", (event, context) => {
    const known = announced(bridge, context, event);
    bridge.compactionBegins(context?.sessionKey);
    if (known) bridge.compactions.set(known.session_key, { identity: known, messages: event?.messages, at: Date.now() });
  });
  on(api, "after_compaction", (_event, context) => {
    // up to 2026.3 it does not say whose: then it is the one that was announced
    const keys = [...bridge.compactions.keys()];
    const key = context?.sessionKey ?? (keys.length === 1 ? keys[0] : undefined);
    const announced = bridge.compactions.get(key)?.identity;
    bridge.compactions.delete(key);
    bridge.compactionEnded(key, announced);
  });
  try {
    api.registerCompactionProvider?.({
      id: PROVIDER,
      label: "jsonlstore (no model)",
      summarize: ({ messages, previousSummary } = {}) => summarize(bridge, messages, previousSummary),
    });
  } catch (problem) {
    api.logger?.debug?.(`jsonlstore: compaction provider: ${problem?.message ?? problem}`);
  }
}

/** Whose compaction is announced. The agent is told by the key: 2026.2 calls every agent "agent" here. */
function announced(bridge, context, event) {
  const told = identify(context, event);
  const current = bridge.current(context?.sessionKey)?.identity;
  if (current && (!told || told.session_id === current.session_id)) return current;
  const [kind, agent] = told?.session_key.split(":") ?? [];
  return told && kind === "agent" && agent ? { ...told, agent_id: agent } : told;
}

/** The summary of the conversation these messages are from; an empty text on any doubt. */
export async function summarize(bridge, messages, previousSummary, identity = sessionOf(bridge.compactions, messages)) {
  const seen = timesOf(messages).slice(-MOST_TIMES);
  if (!identity || seen.length === 0) return "";
  const { session_id, session_key, agent_id, channel } = identity;
  const input = { session_id, session_key, agent_id, channel, seen };
  if (typeof previousSummary === "string") input.previous_summary = previousSummary;
  const tokens = tokensUsed(bridge.compactions.get(session_key)?.messages);
  if (tokens !== undefined) input.tokens = tokens;
  const { value } = await bridge.call(["hook", "compact"], input, ANSWER_MS);
  return typeof value?.summary === "string" ? value.summary : "";
}

/** The one announced compaction whose messages these are; `undefined` if there is none, or more than one. */
export function sessionOf(compactions, messages, now = Date.now()) {
  const wanted = timesOf(messages);
  const fits = [];
  for (const [key, { identity, messages: announced, at }] of compactions) {
    if (now - at > ANNOUNCED_MS) compactions.delete(key);
    else if (holds(announced, wanted)) fits.push(identity);
  }
  return fits.length === 1 ? fits[0] : undefined;
}

/** Whether all these times are among the messages; where those are not known, the program compares the transcript. */
function holds(announced, wanted) {
  if (!Array.isArray(announced)) return true;
  const there = new Set(timesOf(announced));
  return wanted.every((at) => there.has(at));
}

function timesOf(messages) {
  const said = (Array.isArray(messages) ? messages : []).filter((one) => SPEAKERS.has(one?.role));
  return said.map(({ timestamp }) => timestamp).filter(Number.isSafeInteger);
}
