// jsonlstore: compaction without a model for OpenClaw 2026.2 and 2026.3. `jsonlstore openclaw uninstall` removes this file.
//
// OpenClaw loads it from `.pi/extensions/` of a workspace. The plugin in the same process does the work; without it, and
// whatever else goes wrong, nothing is returned and OpenClaw writes its own summary.

const BRIDGE = Symbol.for("jsonlstore.openclaw.bridge.1");

export default function (pi) {
  pi.on("session_before_compact", async (event, context) => {
    try {
      const { messagesToSummarize, turnPrefixMessages, previousSummary, firstKeptEntryId, tokensBefore } = event.preparation;
      const summary = await globalThis[BRIDGE]?.summaryFor?.(
        context.sessionManager?.getSessionId?.(),
        [...(messagesToSummarize ?? []), ...(turnPrefixMessages ?? [])],
        previousSummary,
      );
      if (!summary || !firstKeptEntryId) return undefined;
      return { compaction: { summary, firstKeptEntryId, tokensBefore } };
    } catch {
      return undefined;
    }
  });
}
