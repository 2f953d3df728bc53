// Runs the jsonlstore program in the background, for a limited time; it never throws.

import { spawn } from "node:child_process";

const MOST_STDERR = 65_536;
const MOST_OUTPUT = 256 * 1024;

/** The program and its first arguments, from what the settings say: a list, a path, or nothing (then: from PATH). */
export function commandOf(configured) {
  const words = (Array.isArray(configured) ? configured : [configured]).filter(
    (word) => typeof word === "string" && word.trim() !== "",
  );
  return words.length > 0 ? words : ["jsonlstore"];
}

/**
 * One run: `input` goes in as JSON, what comes back is `{ value }`, or `{ problem: "error" | "timeout", detail }`.
 *
 * The answer is there once the output is a whole document: a program that has more to do after it is not waited for
 * (`onExit` tells when it is done). It gets a process group of its own, so that it outlives the gateway where it should
 * and goes with its children where it must.
 */
export function run(command, words, { input, timeoutMs, onExit, onStderr, leave = false } = {}) {
  return new Promise((resolve) => {
    let child;
    try {
      child = spawn(command[0], [...command.slice(1), ...words], {
        stdio: ["pipe", "pipe", onStderr ? "pipe" : "ignore"],
        detached: true,
        windowsHide: true,
      });
    } catch (problem) {
      resolve({ problem: "error", detail: brief(problem) });
      onExit?.();
      return;
    }
    const chunks = [];
    let size = 0;
    let settled = false;
    const timer = setTimeout(() => end({ problem: "timeout", detail: `no answer in ${timeoutMs} ms` }, !leave), timeoutMs);
    timer.unref?.();

    function end(outcome, kill) {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      child.stdout?.destroy();
      if (kill) killGroup(child);
      child.unref();
      resolve(outcome);
    }

    child.on("error", (problem) => {
      end({ problem: "error", detail: brief(problem) }, true);
      onExit?.();
    });
    const complaints = [];
    child.on("close", (code) => {
      onStderr?.(complaints.join(""));
      end(parsed(Buffer.concat(chunks)) ?? { problem: "error", detail: `exit ${code}, no answer` }, false);
      onExit?.();
    });
    if (!child.stdin || !child.stdout) return; // no descriptors left for its pipes: "error" comes next
    child.stderr?.on("error", () => {});
    child.stderr?.on("data", (chunk) => {
      complaints.push(chunk.toString("utf8"));
      if (complaints.length > 64) complaints.splice(0, complaints.length, complaints.join("").slice(-MOST_STDERR));
    });
    child.stderr?.unref?.(); // nobody waits for it: the gateway may leave
    child.stdin.on("error", () => {}); // it left without reading: its exit says the rest
    child.stdout.on("error", () => {});
    child.stdout.on("data", (chunk) => {
      size += chunk.length;
      if (size > MOST_OUTPUT) {
        end({ problem: "error", detail: "the answer is too long" }, true);
        return;
      }
      chunks.push(chunk);
      if (chunk.includes(10)) {
        const answer = parsed(Buffer.concat(chunks));
        if (answer) end(answer, false);
      }
    });
    child.stdin.end(input === undefined ? "" : JSON.stringify(input));
  });
}

function parsed(output) {
  try {
    const value = JSON.parse(output.toString("utf8"));
    if (value && typeof value === "object" && !Array.isArray(value)) return { value };
  } catch {
    // not (yet) a document
  }
  return undefined;
}

function killGroup(child) {
  if (!child.pid) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}

function brief(problem) {
  return String(problem?.code ?? problem?.message ?? problem).slice(0, 120);
}
