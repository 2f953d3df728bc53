import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { Host, KEY, hook, package_, said } from "./host.mjs";

const { Bridge } = await import(path.join(package_, "plugin", "bridge.js"));
const HISTORY = [said("user", "before"), said("assistant", "yes", { stopReason: "stop" })];

for (const era of ["2026.7", "2026.2"]) {
  test(`every turn of a session gets the same block, asked for once (${era})`, async () => {
    const host = new Host("good", { era });
    const first = await host.turn();
    assert.match(first, /^<session-continuity/);
    for (let turn = 0; turn < 4; turn += 1) {
      await host.fire("agent_end", { success: true, messages: HISTORY });
      assert.equal(await host.turn({ messages: HISTORY }), first);
    }
    assert.equal(await host.turn({ messages: [{ role: "compactionSummary", summary: "s" }] }), first);
    assert.equal(host.calls("session-start").length, 1);
  });

  test(`whoever wants the block once gets it in the first turn (${era})`, async () => {
    const host = new Host("good", { era, config: { restore_for: "first_turn" } });
    assert.match(await host.turn(), /^<session-continuity/);
    await host.fire("agent_end", { success: true, messages: HISTORY });
    assert.equal(await host.turn({ messages: HISTORY }), undefined);
    assert.equal(host.calls("session-start").length, 1);
  });

  test(`a runtime's own turn gets no block, and the next one does (${era})`, async () => {
    const host = new Host("good", { era });
    await host.turn();
    assert.equal(await host.turn({ prompt: "Pre-compaction memory flush. Store now.", messages: HISTORY }), undefined);
    assert.equal(await host.turn({ context: host.context({ trigger: "memory" }), messages: HISTORY }), undefined);
    const inside = host.context({ sessionKey: "agent:main:internal-session-effects:7" });
    assert.equal(await host.turn({ context: inside, messages: HISTORY }), undefined);
    assert.match(await host.turn({ messages: HISTORY }), /^<session-continuity/);
  });
}

test("the block stands at the end of the system prompt, and nothing of it in the prompt", async () => {
  const host = new Host("good");
  await host.turn();
  assert.deepEqual(Object.keys(host.given), ["appendSystemContext"]);
});

test("a version with neither place gets the block once, before the first prompt", async () => {
  const host = new Host("good", { era: "before" });
  await host.turn();
  assert.match(host.given.prependContext, /^<session-continuity/);
  assert.equal(await host.turn({ messages: HISTORY }), undefined);
});

test("where nobody calls the listeners of agent:bootstrap, each prompt gets the block and none is stored with it", async () => {
  const host = new Host("good", { era: "2026.2", settings: { hooks: undefined } });
  const isStored = (text) => host.fire("before_message_write", { message: said("user", text) }, host.context());
  for (const messages of [[], HISTORY, HISTORY]) {
    await host.turn({ messages });
    assert.equal(host.bootstrap.length, 0);
    assert.match(host.given.prependContext, /^<session-continuity/);
    assert.deepEqual(isStored(`${host.given.prependContext}\n\nhello`), { message: said("user", "hello") });
  }
});

test("a listener the gateway dropped is registered again", async () => {
  const host = new Host("good", { era: "2026.2" });
  assert.match(await host.turn(), /^<session-continuity/);
  host.bootstrap = [];
  assert.equal(await host.turn({ messages: HISTORY }), undefined);
  assert.match(await host.turn({ messages: HISTORY }), /^<session-continuity/);
});

test("a question that failed is asked once more in a later turn, and no more after that", async () => {
  const host = new Host("failing");
  for (let turn = 0; turn < 4; turn += 1) {
    assert.equal(await host.turn({ messages: turn ? HISTORY : [] }), undefined);
    await host.fire("agent_end", { success: true, messages: HISTORY });
  }
  const asked = host.calls("session-start").map(({ input }) => input.under_way);
  assert.deepEqual(asked, [undefined, undefined]); // we saw it begin
});

test("what the program is told: who speaks where, and the first words, on stdin only", async () => {
  const host = new Host("good");
  await host.turn({ prompt: "[Mon 2026-11-16 04:00 UTC] the secret garden" });
  const [{ words, input }] = host.calls("session-start");
  assert.deepEqual(words, ["--state-dir", host.stateDir, "hook", "session-start"]);
  const { pid, ...told } = input;
  assert.equal(pid, process.pid);
  const known = { session_id: "s1", session_key: KEY, agent_id: "main", channel: "webchat", cwd: "/w" };
  assert.deepEqual(told, { ...known, prompt: "the secret garden" });
});

test("turns at the same time share one question and its answer", async () => {
  const host = new Host("good");
  const answers = await Promise.all([host.turn(), host.turn(), host.turn()]);
  assert.ok(answers.every((text) => text?.startsWith("<session-continuity")));
  assert.equal(host.calls("session-start").length, 1);
});

test("a turn that is tried again gets the same answer without another question", async () => {
  const host = new Host("good");
  const first = await host.turn();
  const failed = [said("user", "hello there"), said("assistant", "", { stopReason: "error" })];
  assert.equal(await host.turn({ messages: failed }), first);
  assert.equal(host.calls("session-start").length, 1);
});

for (const key of ["temp:slug-generator", "agent:main:subagent:1", "agent:main:cron:1", "agent:main:temp:x", undefined]) {
  test(`nobody's conversation gets nothing and is not reported: ${key}`, async () => {
    const host = new Host("good");
    const context = host.context({ sessionKey: key });
    assert.equal(await host.turn({ context }), undefined);
    await host.fire("agent_end", { success: true, messages: HISTORY }, context);
    await host.fire("session_end", { sessionId: "s1", sessionKey: key, reason: "new" }, context);
    assert.equal(host.calls().length, 0);
  });
}

test("a heartbeat neither gets the preamble nor uses it up", async () => {
  const host = new Host("good");
  const poll = "Read HEARTBEAT.md if it exists (workspace context).";
  assert.equal(await host.turn({ prompt: poll }), undefined);
  assert.equal(await host.turn({ context: host.context({ trigger: "heartbeat" }) }), undefined);
  assert.equal(host.calls("session-start").length, 0);
  const messages = [said("user", poll), said("assistant", "HEARTBEAT_OK", { stopReason: "stop" })];
  assert.match(await host.turn({ messages }), /^<session-continuity/);
});

for (const [behaviour, result] of [
  ["failing", "error"],
  ["garbage", "error"],
  ["array", "error"],
  ["odd", "nothing"],
  ["error", "error"],
  ["huge", "error"],
  ["cold", "nothing"],
]) {
  test(`a program that is ${behaviour}: no preamble, at most one line in the debug log`, async () => {
    const host = new Host(behaviour);
    assert.equal(await host.turn(), undefined);
    assert.equal(await host.turn(), undefined);
    await host.until(() => host.heartbeat().last_result === result, "the report");
    assert.equal(host.debug.length, result === "nothing" ? 0 : 1);
  });
}

test("a program that is not there is no preamble", async () => {
  const host = new Host("good", { config: { command: "/nowhere/jsonlstore" } });
  assert.equal(await host.turn(), undefined);
  await host.until(() => host.heartbeat().last_error === "ENOENT", "the report");
});

test("a gateway that has no file descriptors left is told so, and lives", () => {
  const script = `
    import { openSync } from "node:fs";
    import { run } from ${JSON.stringify(path.join(package_, "plugin", "program.js"))};
    try { for (;;) openSync("/dev/null"); } catch {}
    let exits = 0;
    const { problem, detail } = await run(["true"], [], { input: {}, timeoutMs: 5000, onExit: () => (exits += 1) });
    process.exit(problem === "error" && detail === "EMFILE" && exits > 0 ? 0 : 3);`;
  const words = ["-c", 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, script];
  const { status, stderr } = spawnSync("sh", words, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
});

test("a gateway that runs for months remembers only so many conversations", () => {
  const many = new Bridge();
  for (let number = 0; number < 2000; number += 1) many.claimForPlugin(`agent:main:openai:${number}`);
  assert.ok(many.isClaimedByPlugin("agent:main:openai:1999"));
  assert.ok(!many.isClaimedByPlugin("agent:main:openai:0"));
});

for (const behaviour of ["hanging", "late"]) {
  test(`a program that is ${behaviour} is killed when the time is up, and asked no more`, async () => {
    const host = new Host(behaviour, { config: { timeoutMs: 1500 } });
    assert.equal(await host.turn(), undefined);
    assert.equal(await host.turn(), undefined);
    const calls = host.calls("session-start");
    assert.equal(calls.length, 1);
    await host.until(() => isGone(calls[0].pid), "its end");
    await host.until(() => host.heartbeat().last_result === "timeout", "the report");
  });
}

function isGone(pid) {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

test("the gateway's own loop goes on while the program thinks", async () => {
  const host = new Host("hanging", { config: { timeoutMs: 1000 } });
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 5);
  await host.turn();
  clearInterval(timer);
  assert.ok(ticks > 20);
});

test("a new stretch under the same id is a new session: it asks again", async () => {
  const host = new Host("good");
  await host.turn();
  await host.fire("agent_end", { success: true, messages: HISTORY });
  const id = { sessionId: "s1", sessionKey: KEY };
  await host.fire("session_end", { ...id, reason: "new", nextSessionId: "s1" }, id);
  await host.fire("session_start", { ...id, resumedFrom: "s1" }, id);
  assert.match(await host.turn(), /^<session-continuity/);
  assert.equal(host.calls("session-start").length, 2);
  await host.until(() => host.calls("session-end").length === 1, "the end's report");
  assert.equal(host.calls("session-end")[0].input.reason, "new");
});

test("a reset no event told of is noticed by the empty history, and asked about", async () => {
  const host = new Host("restored");
  await host.turn();
  await host.fire("agent_end", { success: true, messages: HISTORY });
  await host.turn();
  assert.equal(host.calls("session-start").length, 2);
});

test("after a restart in the middle of a session its block is asked for again, and nothing new", async () => {
  const host = new Host("restored");
  assert.match(await host.turn({ messages: HISTORY }), /^<session-continuity/);
  assert.equal(host.calls("session-start")[0].input.under_way, true);
});

test("a session that began before the installation gets nothing", async () => {
  const host = new Host("unknown");
  assert.equal(await host.turn({ messages: HISTORY }), undefined);
  await host.fire("agent_end", { success: true, messages: HISTORY });
  assert.equal(await host.turn({ messages: HISTORY }), undefined);
  assert.equal(host.calls("session-start").length, 1);
});

test("where the messages cannot be seen the program looks for itself whether the session has begun", async () => {
  const host = new Host("good", { era: "2026.2" });
  await host.turn({ messages: HISTORY });
  const { check_history: look, under_way: begun } = host.calls("session-start")[0].input;
  assert.deepEqual([look, begun], [true, undefined]);
});

test("a first turn that died with its process gets the block again", async () => {
  const host = new Host("restored");
  assert.match(await host.turn({ messages: [said("user", "hello there")] }), /^<session-continuity/);
});

test("our block is taken out of what the oldest OpenClaw stores, and nothing else is", async () => {
  const host = new Host("good", { era: "before" });
  const block = await host.turn();
  const write = (message) => host.fire("before_message_write", { message }, host.context());
  assert.deepEqual(write(said("user", `${block}\n\nhello there`)), { message: said("user", "hello there") });
  assert.deepEqual(write({ role: "user", content: `a\n\n${block}\n\nb` }), { message: { role: "user", content: "a\n\nb" } });
  assert.equal(write(said("user", "about <session-continuity> tags")), undefined);
  assert.equal(write(said("assistant", block)), undefined);
});

const LINE = "[Context: 156k/200k tokens (78%)]";
const answered = (totalTokens, more = {}) => said("assistant", "yes", { stopReason: "stop", usage: { totalTokens }, ...more });
const talk = [said("user", "before"), answered(9), said("user", "and"), answered(156_000)];
const on = { config: { context_line: true } };

test("how full the context is, is told with each prompt where the user wants it and both numbers are known", async () => {
  const host = new Host("cold", on);
  assert.equal(await host.turn({ messages: talk }), undefined); // nobody said how large the window is
  host.fire("llm_output", { contextTokenBudget: 200_000, usage: { total: 1 } });
  assert.equal(await host.turn({ messages: talk }), LINE);
  assert.equal(await host.turn({ messages: [...talk, answered(0)] }), undefined);
  assert.equal(await host.turn({ messages: [...talk, answered(5, { stopReason: "aborted" })] }), LINE);
  assert.equal(await host.turn({ messages: [] }), undefined);
  assert.equal(await host.turn({ messages: talk, context: host.context({ trigger: "heartbeat" }) }), undefined);
  const other = host.context({ sessionKey: "agent:main:telegram:dm:7", sessionId: "s2" });
  assert.equal(await host.turn({ messages: talk, context: other }), undefined);
});

test("without the setting the context is not spoken of, and nobody is asked about it", async () => {
  for (const config of [{}, { context_line: false }, { context_line: "yes" }]) {
    const host = new Host("cold", { config });
    assert.equal(host.handlers.llm_output, undefined);
    await host.turn();
    await host.fire("agent_end", { success: true, messages: talk });
    await host.until(() => host.calls("turn-end").length === 1, "the report");
    assert.ok(!("tell_window" in host.calls("turn-end")[0].input));
    assert.equal(await host.turn({ messages: talk }), undefined);
  }
});

test("an answer from before a compaction says nothing about the context after it", async () => {
  const host = new Host("cold", on);
  await host.turn();
  host.fire("llm_output", { contextTokenBudget: 200_000 });
  const summary = (timestamp) => ({ role: "compactionSummary", summary: "s", timestamp });
  const kept = [said("user", "and"), answered(156_000, { timestamp: 2000 })];
  assert.equal(await host.turn({ messages: [summary(3000), ...kept] }), undefined);
  assert.equal(await host.turn({ messages: [summary(undefined), ...kept] }), undefined);
  assert.equal(await host.turn({ messages: [summary("1970-01-01T00:00:01Z"), ...kept] }), LINE);
});

test("an older OpenClaw: the window is what the program knows, and the line is taken out of what is stored", async () => {
  const host = new Host("cold", { ...on, era: "2026.2" });
  const write = (message) => host.fire("before_message_write", { message }, host.context());
  await host.turn();
  await host.fire("agent_end", { success: true, messages: talk });
  let line;
  await host.until(() => host.calls("turn-end").length === 1, "the report");
  for (let tries = 0; line === undefined && tries < 500; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    line = await host.turn({ messages: talk });
  }
  assert.equal(line, LINE);
  assert.deepEqual(write(said("user", `${LINE}\n\nwhat is ${LINE}?`)), { message: said("user", `what is ${LINE}?`) });
  assert.equal(write(said("user", "[Context: 9k/200k tokens (5%)]")), undefined);
  await host.turn({ messages: [...talk, answered(0)] });
  assert.equal(write(said("user", LINE)), undefined); // that turn was given none
});

test("where blocks are not stored a line in the prompt is the user's own", async () => {
  const host = new Host("cold", on);
  await host.turn();
  host.fire("llm_output", { contextTokenBudget: 200_000 });
  assert.equal(await host.turn({ messages: talk }), LINE);
  assert.equal(host.fire("before_message_write", { message: said("user", LINE) }), undefined);
});

test("a turn can get both, the block in the system prompt and the line in its own", async () => {
  const host = new Host("good", on);
  await host.turn();
  host.fire("llm_output", { contextTokenBudget: 200_000 });
  const background = [said("user", "Read HEARTBEAT.md if it exists"), answered(156_000)];
  const given = await host.turn({ messages: background });
  assert.ok(given.startsWith("<session-continuity") && given.endsWith(`\n\n${LINE}`));
  assert.equal(host.given.prependContext, LINE);
});

test("a hook beside the plugin does not switch the line off", async () => {
  const host = new Host("cold", on);
  await host.turn();
  host.fire("llm_output", { contextTokenBudget: 200_000 });
  await hook({ type: "agent", action: "bootstrap", sessionKey: KEY, context: {} });
  assert.equal(await host.turn({ messages: talk }), LINE);
});

test("turns are reported one process at a time, a burst as two", async () => {
  const host = new Host("busy");
  for (let turn = 0; turn < 10; turn += 1) host.fire("agent_end", { success: true, messages: HISTORY });
  await host.until(() => host.calls("turn-end").length === 2, "both reports");
  await new Promise((resolve) => setTimeout(resolve, 700));
  const calls = host.calls("turn-end");
  assert.equal(calls.length, 2);
  const known = { session_id: "s1", session_key: KEY, agent_id: "main", channel: "webchat", catch_up: true };
  assert.deepEqual(calls[0].input, known);
});

test("a heartbeat is nothing to report", async () => {
  const host = new Host("good");
  const end = (context) => host.fire("agent_end", { success: true, messages: HISTORY }, host.context(context));
  end({ messageProvider: "heartbeat" });
  end({ trigger: "heartbeat" });
  end({ sessionId: "s2" });
  await host.until(() => host.calls("turn-end").length > 0, "the report");
  assert.deepEqual(host.calls("turn-end").map(({ input }) => input.session_id), ["s2"]);
});

test("a session that only goes to sleep has not ended", async () => {
  const host = new Host("good");
  await host.turn({ messages: HISTORY });
  for (const reason of ["shutdown", "restart", "compaction", "unknown"]) {
    host.fire("session_end", { sessionId: "s1", sessionKey: KEY, reason }, { sessionId: "s1", sessionKey: KEY });
  }
  host.fire("session_end", { sessionId: "s1" }, { sessionId: "s1" });
  await host.until(() => host.calls("session-end").length === 1, "the one end");
  assert.equal(host.calls("session-end")[0].input.reason, undefined);
});

test("the gateway's start catches up with what was written meanwhile", async () => {
  const host = new Host("good");
  host.service.start({});
  await host.until(() => host.calls("watch").length === 1, "the catch-up");
  assert.deepEqual(host.calls("watch")[0].words.slice(2), ["-q", "watch", "--once", "--if-unwatched"]);
});

test("the report is private, complete, and holds no word of a conversation", async () => {
  const host = new Host("good");
  host.service.start({});
  await host.turn({ prompt: "the velvet word" });
  await host.until(() => host.heartbeat().last_result === "preamble", "the report");
  const file = path.join(host.states, "openclaw-plugin.json");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const report = host.heartbeat();
  assert.deepEqual(Object.keys(report).sort(), [
    "deliveries",
    "delivery",
    "last_error",
    "last_fired_at",
    "last_result",
    "last_wait_ms",
    "loaded_at",
    "openclaw_version",
    "path",
    "pid",
    "plugin_version",
    "session_id",
  ]);
  assert.equal(report.pid, process.pid);
  assert.ok(!JSON.stringify(report).match(/velvet|PENDING/));
});

test("no directory of jsonlstore's, no report: the plugin makes none", async () => {
  const host = new Host("good", { states: false });
  host.service.start({});
  await host.turn();
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(!existsSync(host.states));
});

test("disabled in the settings, nothing is registered", () => {
  const host = new Host("good", { config: { enabled: false } });
  assert.deepEqual(host.handlers, {});
  assert.equal(host.tool, undefined);
});

test("loaded a second time in the same process, it still asks once", async () => {
  const host = new Host("good");
  await host.turn();
  host.load();
  assert.match(await host.turn(), /^<session-continuity/);
  assert.equal(host.calls("session-start").length, 1);
});

test("the tool continues a session in the stretch the agent is in, and says so in its own words", async () => {
  const host = new Host("good");
  const tool = host.tool(host.context());
  const { content } = await tool.execute("1", { session_id: "a1b2c3d4" });
  assert.match(content[0].text, /^Inherited from session a1b2c3d4\n\n<session-continuity/);
  const words = host.calls("continue")[0].words.slice(2);
  assert.deepEqual(words, ["continue", "--into", "stretch-2", "--agent", "main", "--json", "--", "a1b2c3d4"]);
});

for (const wanted of ["--across", "-q", "../../etc", "", "a b", 7, undefined]) {
  test(`the tool passes on nothing but an id: ${wanted}`, async () => {
    const host = new Host("good");
    const { content } = await host.tool(host.context()).execute("1", { session_id: wanted });
    assert.equal(content[0].text, "That is not a session id.");
    assert.equal(host.calls().length, 0);
  });
}

test("the tool tells why nothing was continued", async () => {
  const host = new Host("foreign");
  const { content } = await host.tool(host.context()).execute("1", { session_id: "a1b2" });
  assert.equal(content[0].text, "Nothing was continued: belongs to another conversation");
});

test("the tool names no session of another conversation, whatever the program says of it", async () => {
  for (const behaviour of ["strange", "ambiguous"]) {
    const host = new Host(behaviour);
    const { content } = await host.tool(host.context()).execute("1", { session_id: "a" });
    assert.match(content[0].text, /^Nothing was continued: /);
    assert.doesNotMatch(content[0].text, /a1b2c3d4/);
  }
});

test("session_recall asks for the conversation the agent is in, whatever the agent says", async () => {
  const host = new Host("good");
  const given = { query: "antenna", when: "last week", limit: 3, session_key: "agent:main:telegram:direct:9", scope: "all" };
  const { content } = await host.recallTool(host.context()).execute("1", given);
  assert.equal(content[0].text, "<session-recall>quoted</session-recall>");
  const [{ words, input }] = host.calls("session-recall");
  assert.deepEqual(words.slice(-2), ["hook", "session-recall"]);
  assert.equal(input.session_key, KEY);
  assert.deepEqual(Object.keys(input).sort(), ["agent_id", "channel", "limit", "query", "session_id", "session_key", "when"]);
});

test("session_recall asks nothing without words, and passes on neither errors nor more than 4 KB", async () => {
  const idle = new Host("good");
  for (const query of ["", "  ", 7, undefined]) {
    const { content } = await idle.recallTool(idle.context()).execute("1", { query });
    assert.equal(content[0].text, "Say what to look for.");
  }
  assert.equal(idle.calls().length, 0);
  for (const behaviour of ["foreign", "huge"]) {
    const host = new Host(behaviour);
    const { content } = await host.recallTool(host.context()).execute("1", { query: "antenna" });
    assert.equal(content[0].text, "Earlier sessions cannot be searched right now.");
  }
});

test("the tool of a version that does not name the session uses the one the conversation is in", async () => {
  const host = new Host("good");
  await host.turn();
  const { content } = await host.tool({ agentId: "main", sessionKey: KEY }).execute("1", { session_id: "a1b2" });
  assert.match(content[0].text, /^Inherited/);
});

test("/continuity says what was restored and why, without anybody's words", async () => {
  const host = new Host("good");
  await host.turn();
  const { text } = await host.commandSpec.handler(host.context());
  assert.match(text, /^Restored into this session: 2 open tasks, 1 pin, from\n- abcdef12, ended 3 h ago: score \(0\.50\)/);
  assert.ok(!text.includes("PENDING"));
});

test("/continuity on an old version answers only where it can be no other conversation", async () => {
  const host = new Host("good");
  const ask = async () => (await host.commandSpec.handler({ channel: "webchat", senderId: "cli" })).text;
  await host.turn();
  assert.match(await ask(), /^Restored into this session/);
  await host.turn({ context: host.context({ sessionKey: "agent:main:telegram:dm:42", sessionId: "s2" }) });
  assert.match(await ask(), /does not tell which conversation/);
});

for (const [key, asks, told] of [
  ["agent:main:telegram:dm:42", { senderId: "42", from: "telegram:42" }, true],
  ["agent:main:telegram:group:-100", { senderId: "42", from: "telegram:group:-100" }, true],
  ["agent:main:telegram:group:-100:topic:7", { senderId: "42", from: "telegram:group:-100:topic:7" }, true],
  ["agent:main:telegram:dm:42", { senderId: "43", from: "telegram:43" }, false],
  ["agent:main:telegram:dm:42", { senderId: "42", from: "telegram:group:-100" }, false],
  ["agent:main:telegram:dm:42", { senderId: "2" }, false],
  [KEY, { senderId: "42", from: "telegram:42" }, true],
  [KEY, { senderId: "42", from: "telegram:group:-100" }, false],
  [KEY, { senderId: "42", from: "1203@g.us" }, false],
]) {
  test(`/continuity on an old version: ${key} is ${told ? "" : "not "}where ${JSON.stringify(asks)} asks`, async () => {
    const host = new Host("good");
    await host.turn({ context: host.context({ sessionKey: key, messageProvider: "telegram" }) });
    const { text } = await host.commandSpec.handler({ channel: "telegram", ...asks });
    assert.match(text, told ? /^Restored into this session/ : /does not tell which conversation/);
  });
}

function bootstrap(host, more = {}) {
  const files = [{ name: "AGENTS.md", path: "/w/AGENTS.md", content: "x", missing: false }];
  const cfg = { hooks: { internal: { entries: { jsonlstore: { command: host.command, timeoutMs: 5000 } } } } };
  const context = { workspaceDir: "/w", bootstrapFiles: files, sessionKey: KEY, sessionId: "s1", agentId: "main", cfg, ...more };
  return { files, event: { type: "agent", action: "bootstrap", sessionKey: context.sessionKey, context, messages: [] } };
}

test("the hook adds the block to every turn's files, and leaves the kept list alone", async () => {
  const host = new Host("good", { plugin: false });
  const first = bootstrap(host);
  await hook(first.event);
  assert.equal(first.files.length, 1);
  assert.equal(first.event.context.bootstrapFiles.length, 2);
  assert.match(first.event.context.bootstrapFiles[1].content, /^<session-continuity/);
  const second = bootstrap(host);
  await hook(second.event);
  assert.deepEqual(second.event.context.bootstrapFiles, first.event.context.bootstrapFiles);
  assert.equal(host.calls("session-start").length, 1);
  assert.equal(host.calls("session-start")[0].input.check_history, true);
});

test("the hook asks again after a reset that keeps the id", async () => {
  const host = new Host("good", { plugin: false });
  await hook(bootstrap(host).event);
  await hook({ type: "command", action: "new", sessionKey: KEY, context: { sessionEntry: { sessionId: "s1" } } });
  const later = bootstrap(host);
  await hook(later.event);
  assert.equal(later.event.context.bootstrapFiles.length, 2);
});

test("the hook stays silent where the plugin speaks, in whatever order they are asked", async () => {
  const host = new Host("good");
  await host.fire("before_model_resolve", { prompt: "hi" });
  const { event } = bootstrap(host);
  await hook(event);
  assert.equal(event.context.bootstrapFiles.length, 1);
  assert.match((await host.fire("before_prompt_build", { prompt: "hi", messages: [] })).appendSystemContext, /^<session/);
});

test("a plugin that is not let into conversations leaves them to the hook, and never both", async () => {
  const host = new Host("good");
  const { event } = bootstrap(host);
  await hook(event);
  assert.equal(event.context.bootstrapFiles.length, 2);
  assert.equal(await host.turn(), undefined);
});

test("the hook lets utility runs and whatever goes wrong be", async () => {
  const host = new Host("failing", { plugin: false });
  for (const more of [{ sessionKey: "temp:slug-generator" }, {}, { bootstrapFiles: undefined }]) {
    const { event } = bootstrap(host, more);
    await hook(event);
    assert.ok((event.context.bootstrapFiles?.length ?? 1) === 1);
  }
  await hook({});
  await hook(undefined);
});

test("/handoff takes words, and where several conversations fit an old version refuses and lists them", async () => {
  const host = new Host("good");
  await host.turn();
  assert.equal(host.commands.handoff.acceptsArgs, true, "otherwise its words would go to the model");
  const asked = { channel: "telegram", senderId: "9", from: "telegram:9" };
  const { text } = await host.commands.handoff.handler(asked);
  assert.match(text, /conversation/);
  assert.match((await host.commands.handoff.handler({ ...host.context(), args: "dance" })).text, /^Use \/handoff/);
});

test("a compaction and the gateway's end are captured, in the conversations there are", async () => {
  const host = new Host("good");
  await host.turn();
  const actions = () => host.calls("handoff").map(({ input }) => [input.action, input.session_key]);
  assert.equal(host.fire("before_compaction", { messageCount: 9 }), undefined, "nobody waits");
  await host.until(() => actions().length === 1, "the capture");
  await host.fire("before_compaction", {}, { sessionKey: "agent:main:unknown" });
  await host.fire("gateway_stop", { reason: "x" }, {});
  assert.deepEqual(actions(), [["compaction", KEY], ["stop", KEY]]);
});

test("a gateway that stops does not wait long, and a capture under way goes on without it", async () => {
  const host = new Host("slow-handoff");
  await host.turn();
  const began = Date.now();
  await host.fire("gateway_stop", {}, {});
  assert.ok(Date.now() - began < 2000);
  await host.until(() => host.calls("handoff-finished").length === 1, "the end of the capture");
});

test("/resume goes on at once where the version tells a command its session, and says when it cannot", async () => {
  const host = new Host("resuming");
  await host.turn();
  assert.deepEqual(await host.commands.resume.handler(host.context()), { text: "Resumed.", continueAgent: true });
  assert.equal(host.calls("session-start").at(-1).input.resume, "newest");
  const old = await host.commands.resume.handler({ channel: "webchat", args: "a1b2" });
  assert.deepEqual([old.continueAgent, /next message/.test(old.text)], [undefined, true]);
  assert.equal(host.calls("session-start").at(-1).input.resume, "a1b2");
  const none = new Host("good");
  await none.turn();
  assert.equal((await none.commands.resume.handler(none.context())).text, "There is no handoff to resume.");
});

const sentTo = (host, systemPrompt) => host.fire("llm_input", { sessionId: "s1", systemPrompt, prompt: "x", historyMessages: [] });

test("where a runtime stores the prompt with the block, that is the proof that it arrived", async () => {
  const host = new Host("good", { era: "before" });
  const says = async () => (await host.commandSpec.handler(host.context())).text;
  const block = await host.turn();
  host.fire("before_message_write", { message: said("user", "somebody else's words") }, host.context());
  assert.match(await says(), /Delivery: unconfirmed/);
  host.fire("before_message_write", { message: said("user", `${block}\n\nhello`) }, host.context());
  assert.match(await says(), /Delivery: last seen in what the model was sent at 20/);
});

test("delivery is known from what the model was sent, and from nothing else", async () => {
  const host = new Host("good");
  const says = async () => (await host.commandSpec.handler(host.context())).text;
  assert.match(await says(), /Delivery: nothing was given/);
  const block = await host.turn();
  assert.match(await says(), /Delivery: unconfirmed/);
  sentTo(host, "You are an agent.");
  assert.match(await says(), /Delivery: given, never arrived/);
  await new Promise((resolve) => setTimeout(resolve, 5));
  sentTo(host, `You are an agent.\n\n${block}`);
  assert.match(await says(), /Delivery: last seen in what the model was sent at 20/);
  await host.until(() => host.heartbeat().delivery?.seen_at, "the report");
  assert.ok(!JSON.stringify(host.heartbeat()).includes("PENDING"));
  assert.ok(host.heartbeat().deliveries.s1.seen_at > host.heartbeat().deliveries.s1.missed_at);
});

test("what arrived is remembered for each session, over restarts, for the latest hundred", async () => {
  const host = new Host("good");
  const old = Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`old-${n}`, { given_at: "x", seen_at: "y", missed_at: null }]));
  writeFileSync(path.join(host.states, "openclaw-plugin.json"), JSON.stringify({ deliveries: old }));
  const block = await host.turn();
  sentTo(host, block);
  await host.until(() => host.heartbeat().deliveries?.s1?.seen_at, "the report");
  const kept = Object.keys(host.heartbeat().deliveries);
  assert.equal(kept.length, 100);
  assert.deepEqual([kept.includes("old-119"), kept.includes("old-0"), kept.at(-1)], [true, false, "s1"]);
});

test("session_task lists and closes, in the conversation the agent is in", async () => {
  const host = new Host("good");
  const before = await host.turn();
  const run = async (given) => (await host.taskTool(host.context()).execute("id", given)).content[0].text;
  assert.match(await run({ action: "list" }), /^1\. "paint the box" \[t-1\] 3h ago$/);
  assert.equal(await run({ action: "drop", task: "1" }), "Say one of: list, add, done.");
  assert.equal(await run({ action: "done" }), "Say which task.");
  assert.match(await run({ action: "done", task: "1, 2", session_key: "agent:main:telegram:dm:9" }), /^Done: paint the box\nNo open tasks\.$/);
  const { input } = host.calls("session-task").at(-1);
  assert.deepEqual([input.session_key, input.tasks, input.by], [KEY, ["1", "2"], "agent"]);
  const after = await host.turn({ messages: HISTORY });
  assert.notEqual(after, before);
  assert.match(after, /boxes/);
});

test("/continuity done 2 closes a task, and a mistake says so", async () => {
  const host = new Host("good");
  await host.turn();
  const { text } = await host.commandSpec.handler({ ...host.context(), args: " done 2" });
  assert.match(text, /^Done: paint the box/);
  assert.equal(host.calls("session-task").at(-1).input.by, "chat");
  const failing = new Host("foreign");
  await failing.turn();
  const answer = await failing.commandSpec.handler({ ...failing.context(), args: "done 9" });
  assert.equal(answer.text, "Nothing was changed: no open task is called 9");
});

test("a turn that closed something changes the block of the next ones, once", async () => {
  const host = new Host("closing");
  const first = await host.turn();
  host.fire("agent_end", { success: true, messages: HISTORY });
  await host.until(() => host.calls("turn-end").length === 1, "the report");
  await new Promise((resolve) => setTimeout(resolve, 300));
  const second = await host.turn({ messages: HISTORY });
  assert.notEqual(second, first);
  assert.equal(await host.turn({ messages: HISTORY }), second);
});

test("what the program says on stderr is kept, privately and bounded", async () => {
  const host = new Host("debug");
  await host.turn();
  host.fire("agent_end", { success: true, messages: HISTORY });
  const file = path.join(host.states, "openclaw-hook.log");
  await host.until(() => statSync(file).size > 0, "the file");
  const { readFileSync } = await import("node:fs");
  const text = readFileSync(file, "utf8");
  assert.match(text, /^== hook turn-end, ended 20/);
  assert.match(text, /end\n$/);
  assert.ok(text.length < 20000);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});
