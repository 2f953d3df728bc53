// The hook: the way in where there is no plugin. It reads what the watcher prepared and adds it to the agent's context.

import path from "node:path";

import { bridge as theBridge } from "../../plugin/bridge.js";
import { toldBy } from "../../plugin/conversation.js";

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
    if (ended && !bridge.isPlugins(event.sessionKey)) bridge.begins(ended); // should it go on under the same id
  } else if (event.type === "gateway") {
    settle(bridge, context.cfg);
    bridge.heartbeat.loaded("hook");
  }
}

async function bootstrap(bridge, event, context) {
  const told = toldBy(context, event);
  if (!told || !Array.isArray(context.bootstrapFiles) || bridge.isPlugins(told.session_key)) return;
  if (bridge.isAnswered(told.session_id)) return; // a later turn
  settle(bridge, context.cfg);
  const preamble = await bridge.preamble("hook", told, {});
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
function settle(bridge, config) {
  const entry = config?.hooks?.internal?.entries?.jsonlstore;
  const { command, timeoutMs } = { ...config?.plugins?.entries?.jsonlstore?.config, ...entry };
  if (command || timeoutMs) bridge.configure({ command, timeoutMs });
}
