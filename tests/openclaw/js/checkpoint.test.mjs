import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import test from "node:test";

import { Host, said } from "./host.mjs";

const HISTORY = [said("user", "before"), said("assistant", "yes", { stopReason: "stop" })];
const NAMED = { session: { checkpoint: { model: "mock/small" }, memoryFlush: { enabled: false } } };

/** A gateway whose models answer as `complete` does, after a turn. */
async function afterTurn(complete, { config = NAMED, behaviour = "good" } = {}) {
  const asked = [];
  const llm = complete && { complete: (params) => (asked.push(params), complete(params)) };
  const host = new Host(behaviour, { config, llm });
  await host.turn();
  await host.fire("agent_end", { success: true, messages: HISTORY });
  await host.until(() => host.calls("turn-end").length > 0, "the report");
  return { host, asked };
}

const kept = (host) => host.calls("checkpoint").filter(({ input }) => input.text).map(({ input }) => input);

test("the model that is named words the newest checkpoint, after the turn", async () => {
  const { host, asked } = await afterTurn(async () => ({ text: "{}" }));
  await host.until(() => kept(host).length === 1, "the wording");
  assert.equal(asked[0].model, "mock/small");
  assert.equal(asked[0].messages[0].content, "word it");
  assert.equal(kept(host)[0].at, "2026-01-01T00:00:00.000Z");
  const order = host.calls().map(({ words }) => words.at(-1)).filter((one) => ["turn-end", "checkpoint"].includes(one));
  assert.deepEqual(order, ["turn-end", "checkpoint", "checkpoint"]); // the report makes the checkpoint that is worded
});

test("the model is not asked from within the hook, whose scope is closed by then", async () => {
  const scope = new AsyncLocalStorage();
  const seen = [];
  const llm = { complete: async () => (seen.push(scope.getStore()), { text: "{}" }) };
  const later = new Host("good", { config: NAMED, llm });
  await later.turn();
  await scope.run("the hook", () => later.fire("agent_end", { success: true, messages: HISTORY }));
  await later.until(() => kept(later).length === 1, "the wording");
  assert.deepEqual(seen, [undefined]);
});

test("where that one fails the main one is asked, unless the user wants none", async () => {
  const failing = async ({ model }) => {
    if (model) throw new Error("no such model");
    return { text: "{}" };
  };
  const { host, asked } = await afterTurn(failing);
  await host.until(() => kept(host).length === 1, "the wording");
  assert.deepEqual(asked.map(({ model }) => model), ["mock/small", undefined]);
  const strict = { session: { checkpoint: { model: "mock/small", fallbackToMain: false }, memoryFlush: { enabled: false } } };
  const { host: other, asked: once } = await afterTurn(failing, { config: strict });
  await other.until(() => once.length === 1, "the question");
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(kept(other).length, 0);
});

test("without a named model, or in a version that has none to offer, nobody is asked", async () => {
  const quiet = { session: { memoryFlush: { enabled: false } } };
  const { host, asked } = await afterTurn(async () => ({ text: "{}" }), { config: quiet });
  const { host: older } = await afterTurn(undefined);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(asked.length + host.calls("checkpoint").length + older.calls("checkpoint").length, 0);
});

test("a session without a new checkpoint costs no request to a model", async () => {
  const { host, asked } = await afterTurn(async () => ({ text: "{}" }), { behaviour: "cold" });
  await host.until(() => host.calls("checkpoint").length === 1, "the look");
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(asked.length, 0);
});
