// How full the model's context is, in one line for its next prompt.

const FAILED = new Set(["error", "aborted"]);

/** `[Context: 156k/200k tokens (78%)]`; `undefined` unless both numbers are known. */
export function contextLine(messages, window) {
  const used = tokensUsed(messages);
  if (used === undefined || !isCount(window)) return undefined;
  return `[Context: ${short(used)}/${short(window)} tokens (${Math.round((100 * used) / window)}%)]`;
}

/** What the last answer says was in the context; an answer from before a compaction speaks of what is gone. */
function tokensUsed(messages) {
  if (!Array.isArray(messages)) return undefined;
  // kept messages stand behind the summary though they are older than it: only times tell
  const compacted = messages.filter((one) => one?.role === "compactionSummary").map((one) => timeOf(one));
  const last = messages.findLast((one) => one?.role === "assistant" && !FAILED.has(one.stopReason));
  const used = last?.usage?.totalTokens;
  if (!isCount(used) || !compacted.every((at) => timeOf(last) > at)) return undefined;
  return used;
}

function timeOf({ timestamp }) {
  return typeof timestamp === "string" ? Date.parse(timestamp) : Number(timestamp ?? NaN);
}

export function isCount(value) {
  return Number.isSafeInteger(value) && value > 0;
}

function short(tokens) {
  return tokens < 1000 ? `${tokens}` : `${Math.round(tokens / 1000)}k`;
}
