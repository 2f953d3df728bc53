// The last words on stderr of each kind of call to jsonlstore, in one small file: how `debug` reaches an operator.
// The program redacts what it logs; this file only keeps it, and is bounded.

import { access, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

const FILE = "openclaw-hook.log";
export const MOST_PER_CALL = 16_384;
const MOST_KINDS = 6;

export class Trace {
  #kinds = new Map();
  #written = "";
  #writing = Promise.resolve();

  constructor(folder) {
    this.folder = folder;
  }

  /** A call ended; without a word on stderr the one before it is no longer true either. */
  keep(kind, stderr, at = new Date()) {
    this.#kinds.delete(kind);
    if (stderr) this.#kinds.set(kind, `== ${kind}, ended ${at.toISOString()}\n${stderr.slice(-MOST_PER_CALL)}`);
    while (this.#kinds.size > MOST_KINDS) this.#kinds.delete(this.#kinds.keys().next().value);
    const text = [...this.#kinds.values()].map((one) => (one.endsWith("\n") ? one : `${one}\n`)).join("");
    if (text === this.#written) return this.#writing;
    this.#written = text;
    this.#writing = this.#writing.then(() => this.#write(text)).catch(() => {}); // a courtesy, like the report
    return this.#writing;
  }

  async #write(text) {
    await access(this.folder);
    const draft = path.join(this.folder, `.tmp-${FILE}.${process.pid}`);
    try {
      await writeFile(draft, text, { mode: 0o600 });
      await rename(draft, path.join(this.folder, FILE));
    } catch (problem) {
      await rm(draft, { force: true });
      throw problem;
    }
  }
}
