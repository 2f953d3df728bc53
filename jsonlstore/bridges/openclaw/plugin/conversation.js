// Reads OpenClaw's events: whose conversation a run belongs to, whether it is one at all, and whether it has begun.

const BACKGROUND_TRIGGERS = new Set(["heartbeat", "cron", "memory", "overflow", "cron-event", "exec-event"]);
const BACKGROUND_PROMPTS = [
  "Read HEARTBEAT.md if it exists",
  "[OpenClaw heartbeat",
  "Pre-compaction memory flush",
  "An async command you ran earlier has completed",
  "A scheduled reminder has been triggered",
  "A scheduled cron event was triggered",
];
const TEMPORARY = new Set(["temp", "internal-session-effects"]);
const GREETING = "A new session was started via /new or /reset";
const STAMP = /^\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [^\]\n]{10,60}\] ?/;
const LONGEST_PROMPT = 8000;

/** Whether a key is a person's conversation: not a utility run's, a sub-agent's or a cron job's. */
export function isConversation(key) {
  if (typeof key !== "string" || key === "") return false;
  const parts = key.split(":");
  if (parts[0] === "temp" || (parts[0] === "agent" && TEMPORARY.has(parts[2]))) return false;
  return !parts.includes("subagent") && !parts.includes("cron");
}

/** Whether a turn is the runtime's own (a heartbeat poll, a memory flush). It gets no preamble and uses none up. */
export function isBackgroundTurn(prompt, context = {}) {
  if (BACKGROUND_TRIGGERS.has(context.trigger) || BACKGROUND_TRIGGERS.has(context.messageProvider)) return true;
  return isBackgroundPrompt(prompt);
}

function isBackgroundPrompt(prompt) {
  const text = textOf(prompt).replace(STAMP, "").trimStart();
  return BACKGROUND_PROMPTS.some((opening) => text.startsWith(opening));
}

/** Whether this session holds an answer already: then it is not at its start, and nothing is restored. */
export function hasHistory(messages) {
  if (!Array.isArray(messages)) return false;
  let background = false;
  for (const message of messages) {
    if (message?.role === "user") background = isBackgroundPrompt(message.content);
    else if (message?.role === "compactionSummary" || message?.role === "branchSummary") return true;
    else if (message?.role === "assistant" && !background && !FAILED.has(message.stopReason)) return true;
  }
  return false;
}

const FAILED = new Set(["error", "aborted"]);

/** The identity of a session, with the keys of `jsonlstore hook`; `undefined` if it is no person's conversation. */
export function identify(context = {}, event = {}) {
  const key = context.sessionKey ?? event.sessionKey;
  const id = context.sessionId ?? event.sessionId;
  if (!isConversation(key) || typeof id !== "string" || id === "") return undefined;
  const identity = { session_id: id, session_key: key };
  const agent = context.agentId ?? event.agentId ?? (key.startsWith("agent:") ? key.split(":")[1] : undefined);
  const channel = context.channel ?? context.messageProvider ?? context.messageChannel;
  if (typeof agent === "string" && agent) identity.agent_id = agent;
  if (typeof channel === "string" && channel) identity.channel = channel;
  if (typeof context.workspaceDir === "string") identity.cwd = context.workspaceDir;
  return identity;
}

const PLACE = /(?:^|:)(dm|direct|user|group|channel|room):(.+)$/;
const ALONE = new Set(["dm", "direct", "user"]);

/** Whether what came from this sender can belong to a key: the same chat, or no group where a key names nobody. */
export function mayBelongTo(key, { from, senderId } = {}) {
  const asked = placeOf(String(from ?? senderId ?? "").toLowerCase());
  const parts = key.split(":");
  if (parts[0] === "agent" && parts.length === 3) return asked.alone;
  const kept = placeOf(key.toLowerCase());
  return kept.peer === asked.peer && kept.alone === asked.alone;
}

/** The peer of a key or of a sender, `telegram:group:-100` or `telegram:42`, and whether it is a single person. */
function placeOf(text) {
  const [, kind, named] = PLACE.exec(text) ?? [];
  const peer = named ?? text.slice(text.indexOf(":") + 1);
  return { peer, alone: kind ? ALONE.has(kind) : !peer.endsWith("@g.us") };
}

/** The user's first prompt, which decides what is relevant; `undefined` where OpenClaw wrote it. */
export function promptOf(event) {
  const text = textOf(event?.currentUserMessage ?? event?.prompt).replace(STAMP, "");
  return text === "" || text.startsWith(GREETING) ? undefined : text.slice(0, LONGEST_PROMPT);
}

/** Why the session begins, where its first prompt says so. */
export function reasonOf(event) {
  return textOf(event?.prompt).replace(STAMP, "").startsWith(GREETING) ? "new" : undefined;
}

function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("");
}

/** `message` without our block, if it is in there; `undefined` if there is nothing to take out. */
export function without(block, message) {
  const content = message?.content;
  const cut = (text) => {
    const at = text.indexOf(block);
    return at < 0 ? text : text.slice(0, at) + text.slice(at + block.length).replace(/^\n+/, "");
  };
  if (typeof content === "string") {
    return content.includes(block) ? { ...message, content: cut(content) } : undefined;
  }
  if (!Array.isArray(content) || !content.some((part) => part?.text?.includes?.(block))) return undefined;
  const parts = content.map((part) => (part?.text?.includes?.(block) ? { ...part, text: cut(part.text) } : part));
  return { ...message, content: parts };
}
