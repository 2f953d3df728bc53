// How full the model's context is, in one line for its next prompt.

const FAILED = new Set(["error", "aborted"]);

/** `[Context: 156k/200k tokens (78%)]`; `undefined` unless both numbers are known. */
export function contextLine(messages, window) {
  const used = tokensUsed(messages);
  if (used === undefined || !isCount(window)) return undefined;
  return `[Context: ${short(used)}/${short(window)} tokens (${Math.round((100 * used) / window)}%)]`;
}

/** What the last answer says was in the context; an answer from before a compaction speaks of what is gone. */
export function tokensUsed(messages) {
  if (!Array.isArray(messages)) return undefined;
  const last = messages.findLast((one) => one?.role === "assistant" && !FAILED.has(one.stopReason));
  const used = last?.usage?.totalTokens;
  // kept messages stand behind the summary though they are older than it: only times tell
  if (!isCount(used) || !summaries(messages).every((one) => timeOf(last) > timeOf(one))) return undefined;
  return used;
}

/** When the context was compacted last, in milliseconds; 0 if it never was. */
export function compactedAt(messages) {
  const times = summaries(Array.isArray(messages) ? messages : []).map(timeOf).filter(Number.isFinite);
  return Math.max(0, ...times);
}

/** How many calls of tools speak of a memory file: when there are more, one may have been written. */
export function memoryCalls(messages) {
  const answers = Array.isArray(messages) ? messages.filter((one) => one?.role === "assistant") : [];
  const calls = answers.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter((one) => one?.type === "toolCall");
  return calls.filter((one) => Object.values(one.arguments ?? {}).some(namesMemory)).length;
}

function namesMemory(value) {
  if (typeof value === "string") return value.includes("memory/");
  return value !== null && typeof value === "object" && Object.values(value).some(namesMemory);
}

function summaries(messages) {
  return messages.filter((one) => one?.role === "compactionSummary");
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
