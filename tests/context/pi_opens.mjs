// pi-opens: open a session file with pi's own session manager, append a message, tell what it saw.
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

const pi = await import(pathToFileURL(process.argv[2]).href);
const file = process.argv[3];
const manager = pi.SessionManager.open(file, dirname(file));
manager.appendMessage({ role: "user", content: "from pi", timestamp: Date.now() });
const listed = await pi.SessionManager.list(manager.getCwd(), dirname(file));
console.log(
  JSON.stringify({
    id: manager.getSessionId(),
    types: manager.getEntries().map((entry) => entry.type),
    listed: listed.map((one) => one.id),
  }),
);
