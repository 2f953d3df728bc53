import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";

import { Host, KEY, package_, said } from "./host.mjs";

const { default: extend } = await import(path.join(package_, "extension", "jsonlstore.js"));
const { bridge } = await import(path.join(package_, "plugin", "bridge.js"));
const TALK = [said("user", "one", { timestamp: 1000 }), said("assistant", "two", { timestamp: 2000 }), said("user", "three", { timestamp: 3000 })];
const NEWER = [...TALK, said("assistant", "four", { timestamp: 4000, stopReason: "stop", usage: { totalTokens: 900 } })];

/** A gateway in which a conversation is known and about to be compacted. */
async function compacting(behaviour, { announce = true, ...options } = {}) {
  const host = new Host(behaviour, options);
  await host.turn({ messages: NEWER });
  if (announce) host.fire("before_compaction", { messages: NEWER }, { sessionKey: KEY });
  return host;
}

test("the provider answers for the conversation that was announced", async () => {
  const host = await compacting("good");
  assert.equal(host.provider.id, "jsonlstore");
  assert.equal(await host.provider.summarize({ messages: TALK, previousSummary: "before" }), "## Decisions\n- none known");
  const [{ input }] = host.calls("compact");
  assert.deepEqual(input.seen, [1000, 2000, 3000]);
  assert.equal(input.session_id, "s1");
  assert.equal(input.previous_summary, "before");
  assert.equal(input.tokens, 900);
});

test("on any doubt nothing is returned, and nobody is asked", async () => {
  const unannounced = await compacting("good", { announce: false });
  assert.equal(await unannounced.provider.summarize({ messages: TALK }), "");
  const host = await compacting("good");
  assert.equal(await host.provider.summarize({ messages: [said("user", "other", { timestamp: 77 })] }), "");
  assert.equal(await host.provider.summarize({ messages: [] }), "");
  assert.equal(await host.provider.summarize(), "");
  host.fire("before_compaction", { messages: NEWER }, host.context({ sessionKey: "agent:main:telegram:dm:2", sessionId: "s2" }));
  assert.equal(await host.provider.summarize({ messages: TALK }), "", "two conversations fit");
  assert.equal(host.calls("compact").length + unannounced.calls("compact").length, 0);
});

test("a compaction that is over is nobody's any more", async () => {
  const host = await compacting("good");
  host.fire("after_compaction", {}, {});
  assert.equal(await host.provider.summarize({ messages: TALK }), "");
});

for (const behaviour of ["failing", "cold", "garbage", "hanging"]) {
  test(`a program that is ${behaviour} leaves the summary to OpenClaw, in time`, async () => {
    const host = new Host(behaviour === "hanging" ? "hanging" : behaviour, { config: { timeoutMs: 200 } });
    await host.turn({ messages: NEWER });
    host.fire("before_compaction", { messages: NEWER }, { sessionKey: KEY });
    const started = Date.now();
    assert.equal(await host.provider.summarize({ messages: TALK }), "");
    assert.ok(Date.now() - started < 3500, `${Date.now() - started} ms`);
  });
}

test("after a compaction the block names what was written, in the very next turn", async () => {
  const host = await compacting("good");
  host.fire("after_compaction", {}, { sessionKey: KEY });
  const block = await host.turn({ messages: [{ role: "compactionSummary", summary: "s", timestamp: 5000 }] });
  assert.match(block, /MEMORY FILES: memory\/a\.md/);
  assert.equal(host.calls("compacted").length, 1);
});

test("a compaction that nobody announced is seen in the messages", async () => {
  const host = await compacting("good", { announce: false });
  const block = await host.turn({ messages: [{ role: "compactionSummary", summary: "s", timestamp: 5000 }] });
  assert.match(block, /MEMORY FILES: memory\/a\.md/);
  await host.turn({ messages: [{ role: "compactionSummary", summary: "s", timestamp: 5000 }] });
  assert.equal(host.calls("compacted").length, 1);
});

const SUMMARY = [{ role: "compactionSummary", summary: "s", timestamp: 5000 }];
const LIMIT = 1500;
const MEMORY = /MEMORY FILES: memory\/a\.md/;

/** A conversation that was compacted after its first turn, in a gateway whose turns wait LIMIT at most. */
async function compacted(behaviour, during = () => {}) {
  const host = new Host(behaviour, { config: { timeoutMs: LIMIT } });
  const first = await host.turn();
  await during(host);
  host.fire("before_compaction", { messages: NEWER }, { sessionKey: KEY });
  host.fire("after_compaction", {}, { sessionKey: KEY });
  return { host, first };
}

const noted = (host) => host.until(() => host.calls("compacted-noted").length > 0, "the noting");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

test("an answer about a compaction that takes longer than a turn may wait is there when the next turn comes", async () => {
  const { host, first } = await compacted("noting,compacted=2500");
  assert.equal(first, undefined, "nothing was restored: the block is only what the compaction adds");
  await noted(host);
  assert.match((await host.turn({ messages: SUMMARY })) ?? "", MEMORY);
  assert.equal(host.calls("compacted").length, 1);
});

test("a turn waits for the answer about a compaction from its own beginning on", async () => {
  const { host } = await compacted("noting,compacted=2000");
  await pause(1000);
  assert.match((await host.turn({ messages: SUMMARY })) ?? "", MEMORY);
});

test("a turn that cannot wait any longer has the block as it was, and a later one the new one", async () => {
  const { host, first } = await compacted("good,compacted=6000");
  assert.equal(await host.turn({ messages: SUMMARY }), first);
  const started = Date.now();
  assert.equal(await host.turn({ messages: SUMMARY }), first);
  assert.ok(Date.now() - started < LIMIT / 2, "only one turn waits for it");
  await noted(host);
  await pause(100);
  assert.match(await host.turn({ messages: SUMMARY }), MEMORY);
});

const WRITING = [
  ...TALK,
  { role: "assistant", content: [{ type: "toolCall", id: "c", name: "write", arguments: { path: "memory/a.md" } }], timestamp: 4000 },
];

/** A turn that wrote a memory file is over and reported. */
const reportedWriting = async (gateway) => {
  gateway.fire("agent_end", { success: true, messages: WRITING });
  await gateway.until(() => gateway.calls("turn-end").length === 1, "the report");
  await pause(300);
};

test("what was told ahead is there in the very next turn, however late the answer about a compaction is", async () => {
  const { host, first } = await compacted("ahead,compacted=6000", reportedWriting);
  assert.equal(first, undefined);
  assert.match((await host.turn({ messages: SUMMARY })) ?? "", MEMORY);
  assert.equal(host.calls("compacted-noted").length, 0, "the answer is not there yet");
});

test("what was told ahead of a block that has changed since is not told", async () => {
  const { host } = await compacted("ahead,compacted=6000", async (gateway) => {
    await reportedWriting(gateway);
    bridge().blockIs("s1", "another block");
  });
  assert.equal(await host.turn({ messages: SUMMARY }), "another block");
});

test("the block after a compaction is asked for once a memory file is written, and not again", async () => {
  const host = new Host("ahead");
  await host.turn();
  for (const messages of [TALK, WRITING, WRITING]) {
    const before = host.calls("turn-end").length;
    host.fire("agent_end", { success: true, messages });
    await host.until(() => host.calls("turn-end").length > before, "the report");
    await pause(300);
  }
  assert.deepEqual(host.calls("turn-end").map(({ input }) => Boolean(input.tell_compacted)), [false, true, false]);
});

test("a report that another one replaces is asked what it was to ask", async () => {
  const host = new Host("ahead,turn-end=600");
  await host.turn();
  for (const messages of [TALK, WRITING, WRITING]) host.fire("agent_end", { success: true, messages });
  await host.until(() => host.calls("turn-end").length === 2, "the reports");
  assert.deepEqual(host.calls("turn-end").map(({ input }) => Boolean(input.tell_compacted)), [false, true]);
});

test("what a report read before the compaction takes nothing away when it is told after it", async () => {
  const { host } = await compacted("noting,turn-end=1000", async (gateway) => {
    gateway.fire("agent_end", { success: true, messages: NEWER });
    await gateway.until(() => gateway.calls("turn-end").length === 1, "the report");
  });
  await noted(host);
  await pause(1600);
  assert.match((await host.turn({ messages: SUMMARY })) ?? "", MEMORY);
});

test("a restore that was late and is late again leaves what the compaction told", async () => {
  const { host, first } = await compacted("hanging", (gateway) => gateway.fire("agent_end", { success: true, messages: NEWER }));
  assert.equal(first, undefined);
  await noted(host);
  await pause(100);
  assert.match((await host.turn({ messages: SUMMARY })) ?? "", MEMORY);
  assert.equal(host.calls("session-start").length, 2, "it was asked again");
});

test("a compaction before this process has seen a turn of the session is noted, too", async () => {
  const host = new Host("noting,compacted=200");
  host.fire("before_compaction", { messages: NEWER });
  host.fire("after_compaction", {}, { sessionKey: KEY });
  assert.match((await host.turn({ messages: SUMMARY })) ?? "", MEMORY);
});

/** The extension as pi loads it. */
function extension() {
  const heard = {};
  extend({ on: (name, handler) => (heard[name] = handler) });
  return heard.session_before_compact;
}

const preparation = { messagesToSummarize: TALK, turnPrefixMessages: [], previousSummary: "p", firstKeptEntryId: "k", tokensBefore: 7 };
const session = (id) => ({ sessionManager: { getSessionId: () => id } });

test("the extension gives pi our summary for the session it names", async () => {
  const host = await compacting("good", { era: "2026.2", announce: false });
  const answer = await extension()({ preparation }, session("s1"));
  assert.deepEqual(answer, { compaction: { summary: "## Decisions\n- none known", firstKeptEntryId: "k", tokensBefore: 7 } });
  assert.equal(await extension()({ preparation }, session("s2")), undefined);
  assert.equal(host.calls("compact").length, 1);
});

test("the extension without the plugin, without a session or with nothing prepared stays silent", async () => {
  new Host("good", { plugin: false });
  assert.equal(await extension()({ preparation }, session("s1")), undefined);
  assert.equal(await extension()({}, session("s1")), undefined);
  assert.equal(await extension()({ preparation }, {}), undefined);
});

test("a session that this process has not seen yet is known by its announcement, and its agent by the key", async () => {
  const host = new Host("good", { era: "2026.2" });
  const context = { agentId: "agent", sessionKey: "agent:ops:main", sessionId: "s7" };
  host.fire("before_compaction", { messages: NEWER }, context);
  assert.ok(await extension()({ preparation }, session("s7")));
  assert.equal(host.calls("compact")[0].input.agent_id, "ops");
});
