// What a provider of OpenAI Responses says, whole and as a stream.

import type OpenAI from 'openai'

export type Json = Record<string, unknown>
export type Item = OpenAI.Responses.ResponseOutputItem

const usage = {
  input_tokens: 14,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 21,
}

export function response(output: readonly unknown[], more: Json = {}): Json {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'gpt-5',
    status: 'completed',
    output,
    usage,
    ...more,
  }
}

/** A whole stream, with its end. */
export function streamOf(
  output: readonly Item[],
  type = 'response.completed',
  more: Json = {},
): readonly Json[] {
  const begun = response([], { status: 'in_progress', usage: null })
  const events: readonly Json[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap((item, i) => eventsOfItem(item, i)),
    { type, response: response(output, more) },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

/** The events of one item, as OpenAI writes them; texts come in two pieces. */
export function eventsOfItem(item: Item, output_index: number): readonly Json[] {
  const at = { item_id: item.id, output_index }
  const empty = { ...item, summary: [], content: [], arguments: '', encrypted_content: undefined }
  return [
    { type: 'response.output_item.added', output_index, item: { ...empty, status: 'in_progress' } },
    ...insideOf(item).map(event => ({ ...at, ...event })),
    { type: 'response.output_item.done', output_index, item },
  ]
}

function insideOf(item: Item): readonly Json[] {
  if (item.type === 'reasoning')
    return item.summary.flatMap((part, summary_index) => [
      { type: 'response.reasoning_summary_part.added', summary_index, part: { ...part, text: '' } },
      ...piecesOf(part.text).map(delta => ({
        type: 'response.reasoning_summary_text.delta',
        summary_index,
        delta,
      })),
      { type: 'response.reasoning_summary_text.done', summary_index, text: part.text },
      { type: 'response.reasoning_summary_part.done', summary_index, part },
    ])
  if (item.type === 'message')
    return item.content.flatMap((part, content_index): readonly Json[] => {
      const [kind, text] = part.type === 'refusal' ? ['refusal', part.refusal] : ['output_text', part.text]
      return [
        { type: 'response.content_part.added', content_index, part: { ...part, text: '' } },
        ...piecesOf(text!).map(delta => ({ type: `response.${kind}.delta`, content_index, delta })),
        { type: `response.${kind}.done`, content_index, text },
        { type: 'response.content_part.done', content_index, part },
      ]
    })
  if (item.type !== 'function_call') return []
  return [
    ...piecesOf(item.arguments).map(delta => ({
      type: 'response.function_call_arguments.delta',
      delta,
    })),
    { type: 'response.function_call_arguments.done', arguments: item.arguments },
  ]
}

function piecesOf(text: string): readonly string[] {
  return [text.slice(0, 3), text.slice(3)]
}
