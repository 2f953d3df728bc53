// The open tasks of a conversation: a tool for the agent, and `/continuity done 2` for people.

export const TASK_TOOL = "session_task";

export const TASK_DESCRIPTION =
  "The open tasks of this conversation, over all its sessions: list them, add one for later, or close what is done. " +
  "Close a task only when it is really done; a closed task is not brought back in later sessions.";

export const TASK_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["action"],
  properties: {
    action: { type: "string", enum: ["list", "add", "done"], description: "What to do." },
    task: { type: "string", description: "For add: the title. For done: the task's id, its number in the list, or words of its title." },
  },
};

const BY_AGENT = new Set(["list", "add", "done"]);
const BY_PEOPLE = new Set(["list", "add", "done", "drop", "reopen"]);

/** List or change the tasks of the conversation a call comes from; the program keeps to that conversation. */
export async function changeTasks(bridge, identity, { action, task, by }) {
  const may = by === "chat" ? BY_PEOPLE : BY_AGENT;
  if (!may.has(action)) return `Say one of: ${[...may].join(", ")}.`;
  if (!identity) return "Tasks belong to a conversation, and OpenClaw does not tell which one this is.";
  const named = typeof task === "string" ? task.trim().slice(0, 300) : "";
  if (action !== "list" && named === "") return "Say which task.";
  const { session_id, session_key, agent_id, channel } = identity;
  // a list of numbers means several tasks; anything else is one
  const tasks = action !== "add" && /^\d+(?:[\s,]+\d+)*$/.test(named) ? named.split(/[\s,]+/) : [named].filter(Boolean);
  const input = { session_id, session_key, agent_id, channel, action, tasks, by };
  const { value, detail } = await bridge.call(["hook", "session-task"], input);
  if (!value || value.error) return `Nothing was changed: ${String(value?.error ?? detail ?? "no answer").slice(0, 300)}`;
  if (value.block !== undefined) bridge.blockIs(session_id, value.block);
  const changed = (value.changed ?? []).map((one) => `${DONE[action]}: ${oneLine(one.title || one.task_id)}`);
  return [...changed, ...listed(value.tasks)].join("\n");
}

const DONE = { add: "Added", done: "Done", drop: "Dropped", reopen: "Open again" };

/** The tasks as people and agents name them, numbered. */
export function listed(tasks) {
  if (!Array.isArray(tasks) || tasks.length === 0) return ["No open tasks."];
  return tasks.slice(0, 30).map((one) => `${one.number}. "${oneLine(one.title || one.task_id)}" [${one.task_id}] ${one.age}`);
}

function oneLine(text) {
  return String(text).replace(/\s+/g, " ").replace(/[<>`"]/g, "'").slice(0, 120);
}
