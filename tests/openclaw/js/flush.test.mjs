import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { Host, package_, said } from "./host.mjs";

const flush = await import(path.join(package_, "plugin", "flush.js"));
const cases = JSON.parse(readFileSync(new URL("../../../fixtures/flush_cycles.json", import.meta.url), "utf8"));
const OFF = { agents: { defaults: { compaction: { memoryFlush: { enabled: false } } } } };
const WINDOW = 200_000; // 176,000 are usable

/** A turn's messages, of which the last answer counted so many tokens. */
function at(tokens, { compacted } = {}) {
  const summary = compacted ? [{ role: "compactionSummary", summary: "s", timestamp: compacted }] : [];
  const answer = said("assistant", "yes", { stopReason: "stop", timestamp: (compacted ?? 0) + 10, usage: { totalTokens: tokens } });
  return [...summary, said("user", "before", { timestamp: 1 }), answer];
}

for (const { name, steps, fires, once } of cases.walks) {
  test(`a walk: ${name}`, () => {
    const stages = cases.stages.map((percent) => ({ percent }));
    let cycle = flush.newCycle();
    steps.forEach(([percent, compaction], number) => {
      const fired = flush.fire(cycle, percent, stages, { compaction, once });
      cycle = fired.cycle;
      assert.equal(fired.stage?.percent, fires[number], `step ${number}`);
    });
  });
}

for (const { stage, last, text } of cases.texts) {
  test(`a text: ${JSON.stringify(text)}`, () => assert.equal(flush.flushText(stage, "2026-02-01", last), text));
}

test("percentages are of what is left until OpenClaw compacts", () => {
  assert.equal(flush.usableTokens(200_000, {}, "2026.2.26"), 176_000);
  assert.equal(flush.usableTokens(64_000, {}, "2026.7.1"), 40_000);
  assert.equal(flush.usableTokens(64_000, {}, "2026.9.6"), 44_000); // a quarter of the window is less than 20,000
  assert.equal(flush.usableTokens(200_000, { reserveTokensFloor: 40_000 }, "2026.7.1"), 156_000);
  assert.equal(flush.usableTokens(200_000, { reserveTokens: 30_000 }, "2026.7.1"), 166_000);
  for (const window of [1_000, 8_000, 16_000, 24_000, 32_000]) {
    for (const version of ["2026.2.26", "2026.7.1", "2026.9.6", undefined]) {
      const usable = flush.usableTokens(window, {}, version);
      assert.ok(usable > 0 && usable < window, `${window} in ${version}: ${usable}`);
    }
  }
});

/** A gateway whose sessions have a window of 200,000 tokens. */
function gateway({ config = {}, settings = OFF, era = "2026.7", behaviour = "cold" } = {}) {
  const host = new Host(behaviour, { config: { session: {}, ...config }, era, settings });
  host.window = () => host.handlers.llm_output?.({ contextTokenBudget: WINDOW }, host.context());
  return host;
}

/** What was put before the prompt of a turn in which the context holds so many tokens. */
async function prompted(host, tokens, more = {}) {
  if (host.era === "2026.7") host.window();
  await host.turn({ messages: at(tokens, more), prompt: "go on", ...more });
  return host.given?.prependContext;
}

test("each threshold is in one prompt of its cycle, and again after a compaction", async () => {
  const host = gateway();
  await host.turn();
  host.window();
  const heard = [];
  for (const percent of [10, 49, 51, 60, 76, 80, 91, 95]) heard.push(await prompted(host, percent * 1760));
  assert.deepEqual(heard.map((text) => /Context at (\d+)%/.exec(text ?? "")?.[1]), [
    undefined, undefined, "50", undefined, "75", undefined, "90", undefined,
  ]);
  assert.match(heard[2], /^\[SYSTEM: memory flush\]\n/);
  assert.doesNotMatch(heard[6], /NO_REPLY/);
  assert.match(heard[6], /then answer the user/);
  assert.match(await prompted(host, 51 * 1760, { compacted: 5000 }), /Context at 50%/);
  assert.equal(await prompted(host, 52 * 1760, { compacted: 5000 }), undefined);
});

test("each offer is reported once, with what is needed to go on from it", async () => {
  const host = gateway();
  await host.turn();
  await prompted(host, 51 * 1760);
  await prompted(host, 52 * 1760);
  await host.until(() => host.calls("flush-offered").length > 0, "the report");
  const [{ input }] = host.calls("flush-offered");
  assert.equal(input.session_id, "s1");
  assert.deepEqual(Object.keys(input.flush).sort(), ["at", "compaction", "percent", "tokens", "window"]);
  assert.equal(input.flush.percent, 50);
  await host.fire("agent_end", { success: true, messages: at(1) });
  await host.until(() => host.calls("turn-end").some((one) => one.input.settle_flush), "the settling");
  assert.equal(host.calls("flush-offered").length, 1);
});

test("a plugin that was restarted goes on with the cycle it finds", async () => {
  const host = gateway({ behaviour: "flushed" }); // 75 % were offered, says the program
  assert.equal(await prompted(host, 80 * 1760), undefined);
  assert.match(await prompted(host, 91 * 1760), /Context at 90%/);
});

test("while OpenClaw flushes by itself that is the last stage, and ours is left out", async () => {
  const host = gateway({ settings: {} });
  await host.turn();
  assert.match(await prompted(host, 91 * 1760), /Context at 75%/);
  assert.equal(await prompted(host, 95 * 1760), undefined);
});

test("a runtime's own turn, a sub-agent's and a utility run are not asked", async () => {
  const host = gateway();
  await host.turn();
  const messages = at(80 * 1760);
  await host.turn({ messages, prompt: "Pre-compaction memory flush. Store now." });
  assert.equal(host.given, undefined);
  for (const more of [{ trigger: "memory" }, { sessionKey: "agent:main:subagent:1" }, { sessionKey: "temp:slug" }]) {
    await host.turn({ messages, context: host.context(more) });
    assert.equal(host.given, undefined);
  }
  assert.match(await prompted(host, 80 * 1760), /Context at 75%/);
});

test("a turn that is tried again is asked the same, and offered once", async () => {
  const host = gateway();
  await host.turn();
  host.window();
  const context = host.context({ runId: "r1" });
  const first = await prompted(host, 51 * 1760, { context });
  assert.match(first, /Context at 50%/);
  assert.equal(await prompted(host, 51 * 1760, { context }), first);
  assert.equal(await prompted(host, 51 * 1760, { context: host.context({ runId: "r2" }) }), undefined);
  await host.until(() => host.calls("flush-offered").length > 0, "the report");
  assert.equal(host.calls("flush-offered").length, 1);
});

test("what is to stand in the system prompt stays there until the next stage or a compaction", async () => {
  const thresholds = [
    { percent: 50, prompt: "Half.", injectAs: "system" },
    { percent: 75, prompt: "Three quarters.", injectAs: "system" },
    { percent: 90, prompt: "Now.", injectAs: "user" },
  ];
  const host = gateway({ config: { session: { memoryFlush: { thresholds } } } });
  await host.turn();
  const system = async (tokens, more) => {
    await prompted(host, tokens, more);
    return host.given?.appendSystemContext;
  };
  assert.equal(await system(51 * 1760), "Half.");
  assert.equal(await system(60 * 1760), "Half.");
  assert.equal(await system(76 * 1760), "Three quarters.");
  assert.equal(await system(77 * 1760), "Three quarters.");
  assert.equal(await prompted(host, 91 * 1760), "Now.\nStore what must last, then answer the user.");
  assert.equal(host.given.appendSystemContext, undefined);
  assert.doesNotMatch((await system(10 * 1760, { compacted: 5000 })) ?? "", /Half|quarters/);
});

test("in a version without a system prompt to add to it stands among the files, from its threshold on", async () => {
  const thresholds = [{ percent: 50, prompt: "Half.", injectAs: "system" }, { percent: 75, prompt: "More.", injectAs: "user" }];
  const host = gateway({ era: "2026.2", config: { session: { memoryFlush: { thresholds } } } });
  await host.turn();
  await host.fire("agent_end", { success: true, messages: at(10) }); // the program tells the window with this report
  await host.until(() => host.calls("turn-end").length > 0, "the report");
  await new Promise((resolve) => setTimeout(resolve, 50));
  await host.fire("agent_end", { success: true, messages: at(51 * 1760) });
  assert.equal(await host.turn({ messages: at(51 * 1760) }), "Half.");
  assert.equal(await host.turn({ messages: at(52 * 1760) }), "Half.");
  await host.fire("before_compaction", { messages: [] }, { sessionKey: "agent:main:main" });
  assert.equal(await host.turn({ messages: at(10, { compacted: 5000 }) }), undefined);
});

test("a threshold that was reached before the window was known counts as soon as it is", async () => {
  const thresholds = [{ percent: 50, prompt: "Half.", injectAs: "system" }, { percent: 75, prompt: "More.", injectAs: "user" }];
  const host = gateway({ era: "2026.2", config: { session: { memoryFlush: { thresholds } } } });
  await host.turn();
  await host.fire("agent_end", { success: true, messages: at(51 * 1760) }); // nobody has told the window yet
  await host.until(() => host.calls("flush-offered").length === 1, "the offer");
  assert.equal(await host.turn({ messages: at(51 * 1760) }), "Half.");
});

test("up to 2026.3 the prompt is taken out of what is stored", async () => {
  const host = gateway({ era: "2026.2" });
  await host.turn();
  await host.fire("agent_end", { success: true, messages: at(10) });
  await host.until(() => host.calls("turn-end").length > 0, "the report");
  await new Promise((resolve) => setTimeout(resolve, 50));
  const text = await prompted(host, 51 * 1760);
  assert.match(text, /Context at 50%/);
  const stored = await host.fire("before_message_write", { message: said("user", `${text}\n\ngo on`) });
  assert.equal(stored.message.content[0].text, "go on");
});

test("up to 2026.3 the cycle begins anew after a compaction though no window is told for a turn", async () => {
  const host = gateway({ era: "2026.2", behaviour: "once-told" });
  await host.turn();
  for (const reports of [1, 2]) {
    await host.fire("agent_end", { success: true, messages: at(10) });
    await host.until(() => host.calls("turn-end").length === reports, "the report");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.match(await prompted(host, 51 * 1760, { compacted: 5000 }), /Context at 50%/);
});

test("where the system prompt is out of reach, what stays in it goes with each prompt and is not stored", async () => {
  const thresholds = [{ percent: 50, prompt: "Half.", injectAs: "system" }, { percent: 75, prompt: "More.", injectAs: "user" }];
  const settings = { ...OFF, hooks: undefined };
  const host = gateway({ era: "2026.2", settings, config: { session: { memoryFlush: { thresholds } } } });
  const isStored = (text) => host.fire("before_message_write", { message: said("user", text) });
  await host.turn();
  isStored("hello there");
  await host.fire("agent_end", { success: true, messages: at(10) });
  await host.until(() => host.calls("turn-end").length > 0, "the report");
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (const percent of [51, 60]) {
    assert.equal(await prompted(host, percent * 1760), "Half.");
    assert.deepEqual(isStored("Half.\n\ngo on"), { message: said("user", "go on") });
  }
  assert.match(await prompted(host, 76 * 1760), /^More\./);
});

test("switched off, nothing is asked", async () => {
  const host = gateway({ config: { session: { memoryFlush: { enabled: false } } } });
  await host.turn();
  assert.equal(await prompted(host, 91 * 1760), undefined);
});

test("settings that make no sense count as not given", () => {
  const odd = { thresholds: [{ percent: 0, prompt: "x" }, { percent: 60 }, { percent: 70, prompt: "y", injectAs: "loud" }, { percent: 70, prompt: "z" }, null] };
  assert.deepEqual(flush.flushSettings(odd).stages, [{ percent: 70, prompt: "y", injectAs: "marked" }]);
  for (const block of [undefined, null, 7, "x", {}]) assert.equal(flush.flushSettings(block).stages.length, 3);
});

test("a turn in which nothing is due costs next to nothing", async () => {
  const host = gateway();
  await host.turn();
  host.window();
  const messages = Array.from({ length: 2000 }, (_, n) => (n % 2 ? at(1000)[1] : said("user", `message ${n}`, { timestamp: n })));
  const times = [];
  for (let turn = 0; turn < 60; turn += 1) {
    const started = performance.now();
    await host.turn({ messages });
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  assert.ok(times[30] < 5, `median ${times[30]} ms`);
});
