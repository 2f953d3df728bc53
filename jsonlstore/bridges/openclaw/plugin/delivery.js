// Whether the block reached the model: seen in what the model was sent, not assumed from having given it.

/** What is known of one session's block. Times are ISO texts. */
export function newDelivery() {
  return { given_at: null, seen_at: null, missed_at: null };
}

/** A turn was given the block. */
export function given(delivery, now = new Date()) {
  delivery.given_at = now.toISOString();
}

/** What the model is about to be sent: does it hold the block this turn was given? */
export function looked(delivery, block, sent, now = new Date()) {
  if (!block || delivery.given_at === null) return false;
  const there = texts(sent).some((text) => text.includes(block));
  delivery[there ? "seen_at" : "missed_at"] = now.toISOString();
  return true;
}

function texts({ systemPrompt, prompt, historyMessages } = {}) {
  const found = [systemPrompt, prompt].filter((text) => typeof text === "string");
  for (const message of Array.isArray(historyMessages) ? historyMessages : []) {
    if (typeof message?.content === "string") found.push(message.content);
    else for (const part of Array.isArray(message?.content) ? message.content : []) if (typeof part?.text === "string") found.push(part.text);
  }
  return found;
}

/** One sentence for people. */
export function deliveryText({ given_at, seen_at, missed_at }) {
  if (given_at === null) return "Delivery: nothing was given to this session.";
  if (missed_at !== null && (seen_at === null || missed_at > seen_at)) {
    return `Delivery: given, never arrived: at ${missed_at} the model was sent a request without it.`;
  }
  if (seen_at !== null) return `Delivery: last seen in what the model was sent at ${seen_at}.`;
  return "Delivery: unconfirmed: this OpenClaw did not show what the model was sent.";
}
