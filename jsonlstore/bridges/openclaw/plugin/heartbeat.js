// The bridge's report for `jsonlstore openclaw status`: when it was loaded and when it last ran.
// It holds no word of a conversation.

import { readFileSync, realpathSync } from "node:fs";
import { access, readFile, rename, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

const FILE = "openclaw-plugin.json";
const MOST_DELIVERIES = 100;

/** Where OpenClaw keeps its state, as jsonlstore looks for it too. */
export function defaultStateDir(env = process.env) {
  if (env.OPENCLAW_STATE_DIR) return path.resolve(untilde(env.OPENCLAW_STATE_DIR));
  if (env.OPENCLAW_HOME) return path.join(path.resolve(untilde(env.OPENCLAW_HOME)), ".openclaw");
  return path.join(os.homedir(), ".openclaw");
}

function untilde(text) {
  return text === "~" || text.startsWith("~/") ? path.join(os.homedir(), text.slice(1)) : text;
}

/** The version of the OpenClaw this process runs; what a plugin is told of it is its own version in older ones. */
export function openclawVersion() {
  try {
    let folder = path.dirname(realpathSync(process.argv[1]));
    for (let up = 0; up < 4; up += 1, folder = path.dirname(folder)) {
      const found = packageAt(folder);
      if (found?.name === "openclaw") return found.version;
    }
  } catch {
    // started in a way we do not know: the version is for people to read, nothing depends on it
  }
  return undefined;
}

export function packageAt(folder) {
  try {
    return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  } catch {
    return undefined;
  }
}

/** The report of one process. Writes follow one another, and only where jsonlstore has made its directory. */
export class Heartbeat {
  #report;
  #gateway = false;
  #writing = Promise.resolve();
  #deliveries; // of this process and those before it, by session: `jsonlstore report` tells which blocks arrived

  constructor(stateDir, version) {
    this.folder = path.join(stateDir, "sessions", "states");
    this.#report = {
      plugin_version: version,
      openclaw_version: openclawVersion() ?? null,
      pid: process.pid,
      path: null,
      loaded_at: new Date().toISOString(),
      last_fired_at: null,
      last_result: null,
      last_error: null,
      last_wait_ms: null,
      session_id: null,
      delivery: null,
      deliveries: {},
    };
  }

  /** The gateway is up, and we are in it. */
  loaded(via) {
    this.#gateway = true;
    return this.#beat({ path: via === "plugin" ? via : (this.#report.path ?? via) });
  }

  /** A session asked. */
  fired(news) {
    return this.#beat({ ...news, last_fired_at: new Date().toISOString() });
  }

  /** Something else is known of a session that asked. */
  noted(news) {
    return this.#beat(news);
  }

  #beat(news) {
    Object.assign(this.#report, news);
    const { session_id: id, ...delivery } = news.delivery ?? {};
    if (id && delivery.given_at) this.#report.deliveries[id] = delivery;
    this.#writing = this.#writing.then(() => this.#write()).catch(() => {}); // a report is a courtesy
    return this.#writing;
  }

  async #write() {
    await access(this.folder);
    const target = path.join(this.folder, FILE);
    this.#deliveries ??= await deliveriesIn(target);
    const all = Object.entries({ ...this.#deliveries, ...this.#report.deliveries });
    this.#report.deliveries = Object.fromEntries(all.slice(-MOST_DELIVERIES));
    const report = this.#gateway ? this.#report : { ...this.#report, ...(await gatewayIn(target)) };
    const draft = path.join(this.folder, `.tmp-${FILE}.${process.pid}`);
    try {
      await writeFile(draft, `${JSON.stringify(report)}\n`, { mode: 0o600 });
      await rename(draft, target);
    } catch (problem) {
      await rm(draft, { force: true });
      throw problem;
    }
  }
}

async function deliveriesIn(target) {
  try {
    const { deliveries } = JSON.parse(await readFile(target, "utf8"));
    return deliveries && typeof deliveries === "object" ? deliveries : {};
  } catch {
    return {};
  }
}

/** A command that runs a turn by itself does not pass for the gateway while that one lives. */
async function gatewayIn(target) {
  try {
    const { pid, loaded_at, openclaw_version } = JSON.parse(await readFile(target, "utf8"));
    if (pid === process.pid) return {};
    process.kill(pid, 0);
    return { pid, loaded_at, openclaw_version };
  } catch {
    return {};
  }
}
