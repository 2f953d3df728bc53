// The block as one of the workspace's files, which stand in the system prompt: the way of the hook, and of the plugin in
// versions that let nobody add to the system prompt otherwise.

import path from "node:path";

import { identify } from "./conversation.js";

const NAME = "SESSION_CONTINUITY.md";
const FLUSH_NAME = "MEMORY_FLUSH.md";

/** Add the block to the files of a turn. The turn's messages are not known here: the program looks for itself. */
export async function addAsBootstrapFile(bridge, via, event, known = {}) {
  const context = event?.context ?? {};
  const identity = identify(context, event);
  if (!identity || !Array.isArray(context.bootstrapFiles)) return;
  const block = await bridge.block(via, identity, known, {});
  add(context, NAME, block);
}

/** Add what stands in the system prompt until the next stage of a memory flush. */
export function addFlushAsBootstrapFile(bridge, event) {
  const context = event?.context ?? {};
  const identity = identify(context, event);
  if (identity && Array.isArray(context.bootstrapFiles)) {
    add(context, FLUSH_NAME, bridge.flushInSystemPrompt(identity.session_key));
  }
}

function add(context, name, content) {
  if (!content || context.bootstrapFiles.some((one) => one.name === name)) return;
  const file = { name, path: path.join(context.workspaceDir ?? ".", name), content, missing: false };
  // a new list: the old one may be kept for the turns to come
  context.bootstrapFiles = [...context.bootstrapFiles, file];
}
