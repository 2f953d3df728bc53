// A checkpoint in the words of a model of the user's, through OpenClaw (2026.7 and later), and only where one is named.
//
// After a turn, never in its way, limited in time. Whatever fails leaves the words that were made without a model.

import { AsyncResource } from "node:async_hooks";

const MODEL_MS = 60_000;
const MOST_TOKENS = 1_200;
const MOST_TEXT = 32_000;

/** What `session.checkpoint` says of a model; `undefined` where none is named or this OpenClaw has none to offer. */
export function modelSettings(api) {
  const { enabled, model, fallbackToMain } = api.pluginConfig?.session?.checkpoint ?? {};
  const complete = api.runtime?.llm?.complete;
  if (enabled === false || typeof model !== "string" || model === "" || typeof complete !== "function") return undefined;
  // 2026.9 refuses what a hook begins once the hook is over ("Async work scope is closed"): this is no part of the turn
  const outside = new AsyncResource("jsonlstore checkpoint");
  const ask = (params) => outside.runInAsyncScope(() => complete.call(api.runtime.llm, params));
  return { model, fallback: fallbackToMain !== false, complete: ask };
}

/** Have the newest checkpoint of a session worded, if it was not yet. One at a time for each session. */
export async function wordCheckpoint(bridge, identity, settings, running) {
  const { session_id, session_key, agent_id, channel } = identity;
  if (running.has(session_id)) return false;
  running.add(session_id);
  try {
    const who = { session_id, session_key, agent_id, channel };
    const { value } = await bridge.call(["hook", "checkpoint"], who);
    if (typeof value?.prompt !== "string" || typeof value.at !== "string") return false;
    const text = await worded(settings, value.prompt);
    if (!text) return false;
    const kept = await bridge.call(["hook", "checkpoint"], { ...who, at: value.at, text: text.slice(0, MOST_TEXT) });
    return kept.value?.recorded === true;
  } finally {
    running.delete(session_id);
  }
}

/** The answer of the named model, else of the agent's own if that is wanted. */
async function worded({ model, fallback, complete }, prompt) {
  for (const one of fallback ? [model, undefined] : [model]) {
    const signal = AbortSignal.timeout(MODEL_MS);
    const late = new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
    const params = { messages: [{ role: "user", content: prompt }], purpose: "jsonlstore checkpoint", maxTokens: MOST_TOKENS, signal };
    try {
      const answer = await Promise.race([complete(one ? { ...params, model: one } : params), late]);
      if (typeof answer?.text === "string" && answer.text.trim() !== "") return answer.text;
    } catch {
      // not there, not allowed, or failed: the next one, or none
    }
  }
  return undefined;
}
