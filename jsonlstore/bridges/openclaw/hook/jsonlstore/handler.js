// The hook, for OpenClaw without the plugin: it adds the block to the agent's context as a bootstrap file.

import { addAsBootstrapFile } from "../../plugin/bootstrap.js";
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
  if (!identity || bridge.isClaimedByPlugin(identity.session_key)) return;
  applySettings(bridge, context.cfg);
  await addAsBootstrapFile(bridge, "hook", event);
}

/** The settings of the plugin's entry are the hook's too, and so are those of the hook's own. */
function applySettings(bridge, config) {
  const entry = config?.hooks?.internal?.entries?.jsonlstore;
  const { command, timeoutMs, restore_for: restoreFor } = { ...config?.plugins?.entries?.jsonlstore?.config, ...entry };
  if (command || timeoutMs) bridge.configure({ command, timeoutMs, restoreFor });
}
