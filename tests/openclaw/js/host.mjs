// A host that is enough of OpenClaw for the plugin: it collects what is registered and fires events at it.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
export const package_ = path.resolve(here, "../../../jsonlstore/bridges/openclaw");
const { register } = await import(path.join(package_, "plugin", "index.js"));
export const hook = (await import(path.join(package_, "hook", "jsonlstore", "handler.js"))).default;
const REGISTRY = Symbol.for("jsonlstore.openclaw.bridge.1");

export const KEY = "agent:main:main";
export const said = (role, text, more = {}) => ({ role, content: [{ type: "text", text }], ...more });

/** A gateway with the plugin in it, and a jsonlstore that behaves in a certain way. */
export class Host {
  /** `era`: "2026.7" lets plugins add to the system prompt, "2026.2" only to its files, "before" to neither. */
  constructor(behaviour, { config = {}, plugin = true, states = true, era = "2026.7", settings = {}, llm } = {}) {
    this.era = era;
    this.settings = era === "2026.2" ? { hooks: { internal: { enabled: true } }, ...settings } : settings;
    this.llm = llm;
    delete globalThis[REGISTRY]; // every test is a process of its own
    this.stateDir = mkdtempSync(path.join(os.tmpdir(), "bridge-"));
    process.once("exit", () => rmSync(this.stateDir, { recursive: true, force: true, maxRetries: 3 }));
    this.states = path.join(this.stateDir, "sessions", "states");
    if (states) mkdirSync(this.states, { recursive: true });
    this.log = path.join(this.stateDir, "calls.jsonl");
    this.command = [process.execPath, path.join(here, "stand-in.mjs"), behaviour, this.log];
    const quiet = { session: { memoryFlush: { enabled: false } } }; // flush.test.mjs switches it on
    this.config = { command: this.command, timeoutMs: 5000, ...quiet, ...config };
    this.handlers = {};
    this.debug = [];
    if (plugin) this.load();
  }

  load() {
    this.handlers = {};
    this.bootstrap = [];
    const added = {
      "2026.7": { registerCompactionProvider: (provider) => (this.provider = provider) },
      "2026.2": { registerHook: (_name, listener) => this.bootstrap.push(listener) },
    };
    register({
      ...added[this.era],
      pluginConfig: this.config,
      config: this.settings,
      runtime: { llm: this.llm, state: { resolveStateDir: () => this.stateDir } },
      logger: { debug: (line) => this.debug.push(line) },
      on: (name, handler) => {
        const before = this.handlers[name]; // a plugin may listen twice: both hear it, in this order
        this.handlers[name] = before ? (...told) => [before(...told), handler(...told)].find((one) => one !== undefined) : handler;
      },
      registerTool: (tool, { name }) => {
        if (name === "session_recall") this.recallTool = tool;
        else if (name === "session_task") this.taskTool = tool;
        else this.tool = tool;
      },
      registerCommand: (command) => {
        this.commands ??= {};
        this.commands[command.name] = command;
        if (command.name === "continuity") this.commandSpec = command;
      },
      registerService: (service) => {
        this.service = service;
      },
    });
  }

  context(more = {}) {
    return { agentId: "main", sessionKey: KEY, sessionId: "s1", workspaceDir: "/w", messageProvider: "webchat", ...more };
  }

  fire(name, event = {}, context = this.context()) {
    return this.handlers[name](event, context);
  }

  /** What a turn adds to the system prompt and to its own prompt, in that order. */
  async turn({ prompt = "hello there", messages = [], context = this.context() } = {}) {
    await this.fire("before_model_resolve", { prompt }, context);
    const event = { type: "agent", action: "bootstrap", sessionKey: context.sessionKey, context: { ...context, bootstrapFiles: [] } };
    for (const listener of this.bootstrap) await listener(event);
    this.given = await this.fire("before_prompt_build", { prompt, messages }, context);
    const files = event.context.bootstrapFiles.map(({ content }) => content);
    const parts = [...files, this.given?.appendSystemContext, this.given?.prependContext].filter(Boolean);
    return parts.length > 0 ? parts.join("\n\n") : undefined;
  }

  calls(event) {
    let lines = [];
    try {
      lines = readFileSync(this.log, "utf8").trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
    } catch {
      // nobody called
    }
    return event ? lines.filter(({ words }) => words.includes(event)) : lines;
  }

  heartbeat() {
    return JSON.parse(readFileSync(path.join(this.states, "openclaw-plugin.json"), "utf8"));
  }

  async until(condition, what = "it") {
    const deadline = Date.now() + 20000;
    for (;;) {
      try {
        if (condition()) return;
      } catch {
        // not yet
      }
      if (Date.now() > deadline) throw new Error(`${what} did not happen in time`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
