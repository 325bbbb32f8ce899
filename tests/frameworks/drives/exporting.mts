// Runs the planned requests that end with an answer through Vercel's AI SDK, whose spans NodeSDK exports: PLAN.
import { readFileSync } from "node:fs";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

const sdk = new NodeSDK();
sdk.start();
const tools = {
  find_rooms: tool({
    inputSchema: z.object({ city: z.string(), seats: z.number().int().min(1).max(20) }),
    execute: async ({ city }) => ({ rooms: [{ room_id: "os-fjord", city }] }),
  }),
  book_room: tool({
    inputSchema: z.object({ room_id: z.string(), hours: z.number().int() }),
    execute: async ({ hours }) => {
      if (hours > 24) throw new Error("hours must be at most 24");
      return { booking_id: "b-1001", hours };
    },
  }),
  cancel_booking: tool({
    inputSchema: z.object({ booking_id: z.string() }),
    execute: async ({ booking_id: id }) =>
      id === "b-1001" ? { success: true } : { success: false, error: "booking not found" },
  }),
};
const usage = { inputTokens: { total: 50 }, outputTokens: { total: 5 } };

for (const request of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  let at = 0;
  const doGenerate = async () => {
    const calls = request.rounds[at++];
    const content = calls?.map((call, place) => ({
      type: "tool-call", toolCallId: `c${at}-${place}`, toolName: call.tool, input: JSON.stringify(call.args),
    })) ?? [{ type: "text", text: "done" }];
    return { content, finishReason: { unified: calls ? "tool-calls" : "stop" }, usage, warnings: [] };
  };
  await generateText({
    model: new MockLanguageModelV3({ doGenerate } as any),
    tools, prompt: request.question, stopWhen: stepCountIs(20), experimental_telemetry: { isEnabled: true },
  });
}
await sdk.shutdown();
