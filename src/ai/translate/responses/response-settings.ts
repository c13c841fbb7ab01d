// What a response of OpenAI Responses repeats of its request.

import type { JsonObject } from '../json.ts'

/** Members that the request lacks have their defaults. Nothing is stored, whatever the provider does. */
export function responseSettings(request: JsonObject): JsonObject {
  const entries = Object.entries(defaults).map(([name, usual]) => [name, request[name] ?? usual])
  return { ...Object.fromEntries(entries), ...fixed }
}

const defaults: JsonObject = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  // Unknown: they are the provider's.
  temperature: null,
  top_p: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  truncation: 'disabled',
}

const fixed: JsonObject = {
  access_programs: null,
  background: false,
  previous_response_id: null,
  store: false,
}
