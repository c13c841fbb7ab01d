// Writes a response of OpenAI Responses, whole or as a stream, from the steps of another API.

import { randomBytes } from 'node:crypto'
import { type JsonObject, objectIn, readObject, textIn } from '../json.ts'
import { type IncompleteReason, responsesErrorCode, responsesUsage, type TokenCounts } from '../outcome.ts'
import type { CallerTool } from './responses-tools.ts'

interface Ending {
  /** Why the output is incomplete; null if it is complete. */
  readonly reason: IncompleteReason | null
  readonly counts: TokenCounts
  readonly serviceTier?: string | undefined
}

/**
 * Call `start` first, and `finish` or `fail` last. Text, refusals and reasoning open an item, and close the
 * one before; calls may be open side by side. Whatever is open closes with the response.
 */
export class ResponseWriter {
  readonly #settings: JsonObject
  readonly #createdAt: number
  readonly #isStreamed: boolean
  readonly #itemIds = randomBytes(12).toString('hex')
  readonly #items: Item[] = []
  #message: Message | null = null
  #reasoning: Reasoning | null = null
  #response: JsonObject = {}
  #events = ''
  #sequence = 0

  /** `settings` are what the response repeats of its request; `now` is ms since the epoch. */
  constructor(settings: JsonObject, now: number, isStreamed: boolean) {
    this.#settings = settings
    this.#createdAt = seconds(now)
    this.#isStreamed = isStreamed
  }

  /** The whole response in its current state. */
  get response(): JsonObject {
    return this.#response
  }

  /** Returns the events since the last time; '' for none. */
  flush(): string {
    const events = this.#events
    this.#events = ''
    return events
  }

  start({ id, model }: JsonObject): void {
    this.#response = {
      id: textIn(id) || `resp_${this.#itemIds}`,
      object: 'response',
      created_at: this.#createdAt,
      status: 'in_progress',
      completed_at: null,
      error: null,
      incomplete_details: null,
      model: textIn(model),
      ...this.#settings,
      output: [],
      usage: null,
    }
    this.emit({ type: 'response.created', response: this.#response })
    this.emit({ type: 'response.in_progress', response: this.#response })
  }

  say(text: string): void {
    if (text !== '') this.#openMessage().add('output_text', text)
  }

  refuse(text: string): void {
    if (text !== '') this.#openMessage().add('refusal', text)
  }

  /** Adds to the summary of reasoning. */
  think(text: string): void {
    if (text !== '') this.#openReasoning().add(text)
  }

  /** Ends reasoning with what its provider needs to continue from it. */
  seal(encrypted: string): void {
    this.#openReasoning().encrypted = encrypted
    this.#closeOpen()
  }

  /** Ends the text, refusal or reasoning, so that the next begins an item of its own. */
  break(): void {
    this.#closeOpen()
  }

  call(id: string, tool: CallerTool): Call {
    this.#closeOpen()
    const { prefix } = callForms[tool.type]
    // Callers name a call of the shell by either id.
    const itemId = tool.type === 'local_shell' ? id : this.#itemId(prefix)
    return this.#open(index => new Call(this, index, itemId, id, tool))
  }

  finish({ reason, counts, serviceTier }: Ending, now: number): void {
    const status = reason === null ? 'completed' : 'incomplete'
    const output = this.#items.map(item => item.close(status))
    this.#response = {
      ...this.#response,
      status,
      completed_at: reason === null ? seconds(now) : null,
      incomplete_details: reason === null ? null : { reason },
      ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
      output,
      usage: responsesUsage(counts) ?? null,
    }
    this.emit({ type: `response.${status}`, response: this.#response })
  }

  /** Ends the response with the error of a provider, in the form of any API. */
  fail(error: unknown): void {
    if (this.#sequence === 0) this.start({})
    const message = textIn(error) || textIn(objectIn(error).message) || 'The provider failed.'
    this.#response = {
      ...this.#response,
      status: 'failed',
      error: { code: responsesErrorCode(objectIn(error)), message },
      output: this.#items.map(item => item.value('incomplete')),
    }
    this.emit({ type: 'response.failed', response: this.#response })
  }

  /** For items. */
  emit(event: JsonObject & { readonly type: string }): void {
    const sequence_number = this.#sequence++
    if (!this.#isStreamed) return
    const { type, ...members } = event
    this.#events += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...members })}\n\n`
  }

  #openMessage(): Message {
    if (this.#message !== null) return this.#message
    this.#closeOpen()
    this.#message = this.#open(index => new Message(this, index, this.#itemId('msg')))
    return this.#message
  }

  #openReasoning(): Reasoning {
    if (this.#reasoning !== null) return this.#reasoning
    this.#closeOpen()
    this.#reasoning = this.#open(index => new Reasoning(this, index, this.#itemId('rs')))
    return this.#reasoning
  }

  #open<I extends Item>(begin: (index: number) => I): I {
    const item = begin(this.#items.length)
    this.#items.push(item)
    this.emit({
      type: 'response.output_item.added',
      output_index: item.index,
      item: item.value('in_progress'),
    })
    return item
  }

  #closeOpen(): void {
    this.#message?.close()
    this.#reasoning?.close()
    this.#message = null
    this.#reasoning = null
  }

  /** Unique among all responses, since callers send items back. */
  #itemId(prefix: string): string {
    return `${prefix}_${this.#itemIds}${this.#items.length}`
  }
}

type Status = 'in_progress' | 'completed' | 'incomplete'

abstract class Item {
  readonly index: number
  protected readonly id: string
  readonly #writer: ResponseWriter
  #closed: JsonObject | null = null

  constructor(writer: ResponseWriter, index: number, id: string) {
    this.#writer = writer
    this.index = index
    this.id = id
  }

  /** The item itself; the status it closed with stays. */
  value(status: Status): JsonObject {
    return this.#closed ?? this.write(status)
  }

  close(status: Status = 'completed'): JsonObject {
    if (this.#closed !== null) return this.#closed
    this.end()
    const item = this.write(status)
    this.#closed = item
    this.#writer.emit({ type: 'response.output_item.done', output_index: this.index, item })
    return item
  }

  protected get isClosed(): boolean {
    return this.#closed !== null
  }

  protected emit(type: string, members: JsonObject): void {
    this.#writer.emit({ type, item_id: this.id, output_index: this.index, ...members })
  }

  protected abstract write(status: Status): JsonObject
  /** Emits the events that end its open part. */
  protected abstract end(): void
}

type PartType = 'output_text' | 'refusal'

interface Part {
  readonly type: PartType
  text: string
}

class Message extends Item {
  /** Only the last one is open. */
  readonly #parts: Part[] = []

  add(type: PartType, text: string): void {
    let part = this.#parts.at(-1)
    if (part?.type !== type) part = this.#begin(type)
    part.text += text
    const logprobs = type === 'output_text' ? { logprobs: [] } : {}
    this.emit(`response.${type}.delta`, { content_index: this.#parts.length - 1, delta: text, ...logprobs })
  }

  protected write(status: Status): JsonObject {
    const content = this.#parts.map(partOf)
    return { id: this.id, type: 'message', status, role: 'assistant', content }
  }

  #begin(type: PartType): Part {
    this.end()
    const part = { type, text: '' }
    const content_index = this.#parts.push(part) - 1
    this.emit('response.content_part.added', { content_index, part: partOf(part) })
    return part
  }

  protected end(): void {
    const part = this.#parts.at(-1)
    if (part === undefined) return
    const content_index = this.#parts.length - 1
    const { type, text } = part
    const members = type === 'output_text' ? { text, logprobs: [] } : { refusal: text }
    this.emit(`response.${type}.done`, { content_index, ...members })
    this.emit('response.content_part.done', { content_index, part: partOf(part) })
  }
}

function partOf({ type, text }: Part): JsonObject {
  return type === 'refusal' ? { type, refusal: text } : { type, text, annotations: [], logprobs: [] }
}

class Reasoning extends Item {
  encrypted: string | null = null
  #summary = ''

  add(text: string): void {
    if (this.#summary === '')
      this.emit('response.reasoning_summary_part.added', { summary_index: 0, part: summaryPart('') })
    this.#summary += text
    this.emit('response.reasoning_summary_text.delta', { summary_index: 0, delta: text })
  }

  protected write(): JsonObject {
    const summary = this.#summary === '' ? [] : [summaryPart(this.#summary)]
    return { id: this.id, type: 'reasoning', summary, encrypted_content: this.encrypted }
  }

  protected end(): void {
    if (this.#summary === '') return
    const text = this.#summary
    this.emit('response.reasoning_summary_text.done', { summary_index: 0, text })
    this.emit('response.reasoning_summary_part.done', { summary_index: 0, part: summaryPart(text) })
  }
}

function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text }
}

class Call extends Item {
  readonly #callId: string
  readonly #tool: CallerTool
  readonly #event: string | null
  #input = ''

  constructor(writer: ResponseWriter, index: number, itemId: string, callId: string, tool: CallerTool) {
    super(writer, index, itemId)
    this.#callId = callId
    this.#tool = tool
    this.#event = callForms[tool.type].event
  }

  /** Adds to the arguments, or to the text for a custom tool. */
  add(text: string): void {
    if (text === '' || this.isClosed) return
    this.#input += text
    if (this.#event !== null) this.emit(`${this.#event}.delta`, { delta: text })
  }

  protected write(status: Status): JsonObject {
    const { type, name, namespace } = this.#tool
    const item = { id: this.id, type: callForms[type].type, status, call_id: this.#callId }
    if (type === 'tool_search')
      return { ...item, execution: 'client', arguments: readObject(this.#input) ?? {} }
    if (type === 'local_shell') return { ...item, action: shellAction(this.#input) }
    return { ...item, name, ...(namespace === undefined ? {} : { namespace }), ...this.#whole() }
  }

  protected end(): void {
    if (this.#event === null) return
    const { type, name } = this.#tool
    this.emit(`${this.#event}.done`, type === 'function' ? { name, ...this.#whole() } : this.#whole())
  }

  #whole(): JsonObject {
    return this.#tool.type === 'custom' ? { input: this.#input } : { arguments: this.#input }
  }
}

/** The type of an item, and how its id and the events with its pieces begin. */
const callForms = {
  function: { type: 'function_call', prefix: 'fc', event: 'response.function_call_arguments' },
  custom: { type: 'custom_tool_call', prefix: 'ctc', event: 'response.custom_tool_call_input' },
  tool_search: { type: 'tool_search_call', prefix: 'tsc', event: null },
  local_shell: { type: 'local_shell_call', prefix: 'lsh', event: null },
} as const

/** A model may write the command as one text. */
function shellAction(json: string): JsonObject {
  const { command, ...rest } = readObject(json) ?? {}
  const words = Array.isArray(command) ? command.map(textIn) : ['bash', '-lc', textIn(command)]
  return { type: 'exec', env: {}, ...rest, command: words }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
