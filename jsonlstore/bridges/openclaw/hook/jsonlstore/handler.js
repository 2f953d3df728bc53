// The hook, for OpenClaw without the plugin: it adds the preamble to the agent's context as a bootstrap file.

import path from "node:path";

import { bridge as theBridge } from "../../plugin/bridge.js";
import { identify } from "../../plugin/conversation.js";

export default async function handler(event) {
  try {
    await handle(theBridge(), event);
  } catch {
    // whatever it is, the session starts without us
  }
}

async function handle(bridge, event) {
  const context = event?.context ?? {};
  if (event.type === "agent" && event.action === "bootstrap") {
    await bootstrap(bridge, event, context);
  } else if (event.type === "command" || event.type === "session") {
    const ended = (context.previousSessionEntry ?? context.sessionEntry)?.sessionId;
    if (ended && !bridge.isClaimedByPlugin(event.sessionKey)) bridge.sessionStarts(ended); // should it go on under the same id
  } else if (event.type === "gateway") {
    applySettings(bridge, context.cfg);
    bridge.heartbeat.loaded("hook");
  }
}

async function bootstrap(bridge, event, context) {
  const identity = identify(context, event);
  if (!identity || !Array.isArray(context.bootstrapFiles) || bridge.isClaimedByPlugin(identity.session_key)) return;
  if (bridge.isAnswered(identity.session_id)) return; // a later turn
  applySettings(bridge, context.cfg);
  const preamble = await bridge.preamble("hook", identity, {});
  if (!preamble) return;
  const file = {
    name: "SESSION_CONTINUITY.md",
    path: path.join(context.workspaceDir ?? ".", "SESSION_CONTINUITY.md"),
    content: preamble,
    missing: false,
  };
  // a new list: the old one may be kept for the turns to come
  context.bootstrapFiles = [...context.bootstrapFiles, file];
}

/** The settings of the plugin's entry are the hook's too, and so are those of the hook's own. */
function applySettings(bridge, config) {
  const entry = config?.hooks?.internal?.entries?.jsonlstore;
  const { command, timeoutMs } = { ...config?.plugins?.entries?.jsonlstore?.config, ...entry };
  if (command || timeoutMs) bridge.configure({ command, timeoutMs });
}
