// What people and agents may ask for: `/continuity`, and the tool that continues a named session.

import { deliveryText, newDelivery } from "./delivery.js";
import { listed } from "./tasks.js";

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export const TOOL = "cortex_session_continue";

export const TOOL_DESCRIPTION =
  "Bring back one earlier session of this conversation by its id, whatever its age: its pins go to working memory, " +
  "its open tasks and topics are listed. Use it only when the user asks to continue a particular session.";

export const TOOL_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["session_id"],
  properties: {
    session_id: { type: "string", description: "The id of the earlier session, or a beginning of it that is unique." },
  },
};

/** Continue a session in the one the agent is in. The program keeps to the configured scope; nothing here widens it. */
export async function continueSession(bridge, identity, wanted) {
  if (typeof wanted !== "string" || !SESSION_ID.test(wanted)) return "That is not a session id.";
  if (!identity) return "Sessions can only be continued from a conversation.";
  const { session_id, session_key, agent_id, channel } = identity;
  // makes sure that the session is known, and tells what jsonlstore calls it: one id may span several stretches
  const here = await bridge.call(["hook", "turn-end"], { session_id, session_key, agent_id, channel });
  const into = here.value?.session_id;
  if (!SESSION_ID.test(into ?? "") || here.value.error) return failed(here);
  const words = ["continue", "--into", into, "--agent", agent_id ?? "unknown", "--json", "--", wanted];
  const answer = await bridge.call(words);
  const { reply, preamble } = answer.value ?? {};
  if (typeof reply !== "string") return failed(answer);
  return typeof preamble === "string" ? `${reply}\n\n${preamble}` : reply;
}

// the program names the sessions it means, and they may be of anybody's conversation
const UNNAMED = {
  out_of_scope: "belongs to another conversation",
  ambiguous_session_id: "more than one session begins like that; give more of its id",
};

function failed({ value, detail }) {
  const message = UNNAMED[value?.error?.code] ?? value?.error?.message ?? value?.error ?? detail ?? "no answer";
  return `Nothing was continued: ${String(message).slice(0, 300)}`;
}

/** What was restored into this conversation, and why. It quotes only what the agent of this conversation was given. */
export async function continuity(bridge, identity) {
  if (!identity) return "OpenClaw does not tell which conversation this is; try `jsonlstore list` on the machine.";
  const input = { ...identity, again: true, explain: true };
  delete input.prompt;
  const { value, detail } = await bridge.call(["hook", "session-start", "--dry-run"], input);
  if (!value || value.error) return `Session continuity is not available: ${value?.error ?? detail ?? "no answer"}`;
  const told = bridge.current(identity.session_key)?.block ?? value.block;
  const taken = (value.candidates ?? []).filter((one) => one.qualified);
  const lines = [head(bridge.current(identity.session_key)?.outcome, value)];
  for (const one of taken.slice(0, 5)) {
    lines.push(`- ${one.session_id.slice(0, 8)}, ended ${ago(one.hours_elapsed)}: ${one.reason} (${one.score.toFixed(2)})`);
  }
  const left = (value.candidates ?? []).length - taken.length;
  if (left > 0) lines.push(`${left} other session${left === 1 ? "" : "s"} of this conversation left out.`);
  if (typeof told === "string") lines.push(...whatWasTold(told));
  const tasks = await bridge.call(["hook", "session-task"], { ...input, action: "list", tasks: [] });
  if (tasks.value && !tasks.value.error) lines.push("Open tasks (`/continuity done N` closes one):", ...listed(tasks.value.tasks));
  lines.push(deliveryText(bridge.current(identity.session_key)?.delivery ?? newDelivery()));
  lines.push("Details: jsonlstore restore --explain --dry-run");
  return lines.join("\n");
}

const TOLD = /^(?:ACTIVE PROJECTS|LAST SESSION|PICKED UP|CURRENT PROJECT|IN PROGRESS|NEXT STEP|FAILING|BLOCKERS|DECISIONS|DONE|FILES|HOT TOPICS|WORKING MEMORY)/;

/** The lines of the block besides its tasks, which are listed with their numbers. */
function whatWasTold(block) {
  return block.split("\n").filter((line) => TOLD.test(line)).map((line) => `- ${line}`);
}

/** What this process gave the session, if it was asked; what a look now finds, if not. */
function head(outcome, found) {
  if (outcome?.value?.preamble) return `Restored into this session: ${counted(outcome.value)}, from`;
  if (outcome?.problem) return `Nothing was restored: ${outcome.detail}. There would have been ${counted(found)}, from`;
  return found.preamble ? `For this session there are ${counted(found)}, from` : "Nothing to restore into this session.";
}

function counted(value) {
  return `${plural(value.pending_task_count, "open task")}, ${plural(value.inherited_pins?.length, "pin")}`;
}

function plural(count, noun) {
  const number = Number(count) || 0;
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function ago(hours) {
  if (hours < 1) return `${Math.max(0, Math.round(hours * 60))} min ago`;
  return hours < 48 ? `${Math.round(hours)} h ago` : `${Math.round(hours / 24)} days ago`;
}
