// A working memory that is gone with its session, as an agent without jsonlstore has it.

export default {
  id: "pins",
  name: "pins",
  register(api) {
    api.registerTool(
      () => ({
        name: "working_memory",
        label: "Working memory",
        description: "Pin something for this session.",
        parameters: {
          type: "object",
          required: ["action"],
          properties: { action: { type: "string" }, label: { type: "string" }, content: { type: "string" } },
        },
        execute: async () => ({ content: [{ type: "text", text: "pinned" }], details: {} }),
      }),
      { name: "working_memory", names: ["working_memory"] },
    );
  },
};
