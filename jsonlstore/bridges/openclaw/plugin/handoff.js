// `/handoff` and `/resume` in a chat, and captures before a compaction and when the gateway stops.

import { identify } from "./conversation.js";

const STOP_MS = 1500; // OpenClaw 2026.2 leaves five seconds to all plugins together
const CHAT_MS = 10_000;

/** Register the commands, and capture what is open when the gateway stops. */
export function handOverWith(bridge, api, on, conversationOf) {
  api.registerCommand?.({
    name: "handoff",
    description: "Keep where this session stands for the next one: /handoff [status|clear|project NAME]",
    acceptsArgs: true,
    requireAuth: true,
    handler: async (context) => ({ text: await handoff(bridge, conversationOf(bridge, context), context) }),
  });
  api.registerCommand?.({
    name: "resume",
    description: "Continue where the last session left off.",
    acceptsArgs: true,
    requireAuth: true,
    handler: (context) => resume(bridge, conversationOf(bridge, context), context),
  });
  on(api, "gateway_stop", () => captureAll(bridge));
  on(api, "before_compaction", (_event, context) => {
    const identity = identify(context) ?? bridge.current(context?.sessionKey)?.identity;
    if (identity) void capture(bridge, identity, "compaction", CHAT_MS); // nobody waits for it
  });
}

async function handoff(bridge, identity, context) {
  if (!identity) return unclear(bridge, context);
  const [word = "capture", ...rest] = String(context?.args ?? "").trim().split(/\s+/).filter(Boolean);
  const action = word.toLowerCase();
  if (!["capture", "status", "clear", "project"].includes(action)) return "Use /handoff, /handoff status, /handoff clear or /handoff project NAME.";
  const input = { ...identity, action, name: rest.join(" "), catch_up: true };
  delete input.cwd;
  const { value, detail } = await bridge.call(["hook", "handoff"], input, CHAT_MS);
  return value?.text ?? `The handoff is not available: ${String(value?.error ?? detail ?? "no answer").slice(0, 200)}`;
}

/** Give the session the handoff it has not, and go on at once where this version can. */
async function resume(bridge, identity, context) {
  if (!identity) return { text: unclear(bridge, context) };
  const wanted = String(context?.args ?? "").trim() || "newest";
  const { value, detail } = await bridge.resume(identity, wanted);
  if (!value || value.error) return { text: `Nothing was resumed: ${String(value?.error ?? detail ?? "no answer").slice(0, 200)}` };
  if (!value.handoff?.claimed) return { text: "There is no handoff to resume." };
  // only versions that tell a command its session can go on with a turn of their own
  return identify(context)
    ? { text: "Resumed.", continueAgent: true }
    : { text: "Resumed: it is there from your next message on." };
}

/** Older versions do not tell a command its session: where several fit, say which instead of guessing. */
function unclear(bridge, context) {
  const keys = bridge.conversationsOn(context?.channel);
  if (keys.length === 0) return "This conversation is not known yet: say something first.";
  return `OpenClaw does not tell which conversation this is; it could be ${keys.slice(0, 5).join(", ")}. Use jsonlstore handoff on the machine.`;
}

async function captureAll(bridge) {
  const open = bridge.conversationsOn().map((key) => bridge.current(key)?.identity).filter(Boolean);
  await Promise.allSettled(open.slice(-8).map((identity) => capture(bridge, identity, "stop", STOP_MS)));
}

function capture(bridge, { session_id, session_key, agent_id, channel }, action, timeoutMs) {
  const input = { session_id, session_key, agent_id, channel, action, catch_up: true };
  return bridge.call(["hook", "handoff"], input, timeoutMs, { leave: true });
}
