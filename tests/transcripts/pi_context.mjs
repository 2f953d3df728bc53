// Reads one JSON document per line: {"content": "<jsonl>"} or {"content", "leaf"}; prints pi's own context for it.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const pi = await import(pathToFileURL(process.argv[2]).href);
for await (const line of createInterface({ input: process.stdin })) {
  const { content, leaf } = JSON.parse(line);
  const entries = pi.parseSessionEntries(content);
  pi.migrateSessionEntries(entries);
  const tree = entries.filter((entry) => entry.type !== "session");
  console.log(JSON.stringify(pi.buildSessionContext(tree, leaf)));
}
