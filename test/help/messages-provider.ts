// What a provider of Anthropic Messages says, whole and as a stream.

type Json = Record<string, unknown>

export function message(content: readonly Json[], more: Json = {}): Json {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content,
    stop_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 2,
      output_tokens: 7,
      service_tier: 'standard',
    },
    ...more,
  }
}

/** A whole stream, with its end. Texts come in two pieces. */
export function messageEvents(content: readonly Json[], more: Json = {}): readonly Json[] {
  const { stop_reason, stop_sequence, stop_details, ...rest } = message(content, more)
  const { output_tokens, ...usage } = rest.usage as Json
  return [
    {
      type: 'message_start',
      message: { ...rest, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...content.flatMap(eventsOfBlock),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, stop_details },
      usage: { output_tokens },
    },
    { type: 'message_stop' },
  ]
}

function eventsOfBlock(block: Json, index: number): readonly Json[] {
  const { start, deltas } = partsOf(block)
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function partsOf(block: Json): { readonly start: Json; readonly deltas: readonly Json[] } {
  if (block.type === 'text')
    return { start: { ...block, text: '' }, deltas: deltasOf('text_delta', 'text', block.text as string) }
  if (block.type === 'thinking') {
    const thoughts = deltasOf('thinking_delta', 'thinking', block.thinking as string)
    return {
      start: { ...block, thinking: '', signature: '' },
      deltas: [...thoughts, { type: 'signature_delta', signature: block.signature }],
    }
  }
  if (block.type !== 'tool_use') return { start: block, deltas: [] }
  const json = JSON.stringify(block.input)
  return {
    start: { ...block, input: {} },
    deltas: json === '{}' ? [] : deltasOf('input_json_delta', 'partial_json', json),
  }
}

function deltasOf(type: string, member: string, text: string): readonly Json[] {
  return [text.slice(0, 3), text.slice(3)].map(piece => ({ type, [member]: piece }))
}
