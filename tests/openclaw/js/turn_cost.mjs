// What the plugin costs a turn in which nothing is due: `{"times": […]}` in milliseconds, for the benchmark.

import { Host, said } from "./host.mjs";

const host = new Host("cold", { config: { session: {} } });
await host.turn();
host.handlers.llm_output?.({ contextTokenBudget: 200_000 }, host.context());
const answered = (n) => said("assistant", `answer ${n}`, { stopReason: "stop", timestamp: n, usage: { totalTokens: 1000 } });
const messages = Array.from({ length: 2000 }, (_, n) => (n % 2 ? answered(n) : said("user", `message ${n}`, { timestamp: n })));
const times = [];
for (let turn = 0; turn < 200; turn += 1) {
  const started = performance.now();
  await host.turn({ messages });
  times.push(performance.now() - started);
}
process.stdout.write(`${JSON.stringify({ times })}\n`);
