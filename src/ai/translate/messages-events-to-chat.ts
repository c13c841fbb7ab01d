// Translates the events of Messages into chunks of a chat completion, one at a time.

import { SseReader } from '../sse.ts'
import { type JsonObject, objectIn, readObject, textIn } from './json.ts'
import { chatServiceTier, createdAt, refusalOf } from './messages-response-to-chat.ts'
import { chatUsage, countsOfMessages, finishReason } from './outcome.ts'
import type { EventTranslator } from './translation.ts'

/** A tool call that the provider is still writing. */
interface OpenCall {
  readonly index: number
  readonly input: unknown
  hasArguments: boolean
}

type State = 'open' | 'complete' | 'broken'
type Handler = (event: JsonObject) => string

export class ChatEvents implements EventTranslator {
  readonly #reader = new SseReader()
  readonly #withUsage: boolean
  readonly #created: number
  readonly #handlers: ReadonlyMap<unknown, Handler>
  #state: State = 'open'
  #id = ''
  #model = ''
  #usage: JsonObject = {}
  #calls = 0
  #call: OpenCall | null = null

  constructor({ withUsage, now }: { readonly withUsage: boolean; readonly now: number }) {
    this.#withUsage = withUsage
    this.#created = createdAt(now)
    this.#handlers = new Map<unknown, Handler>([
      ['message_start', event => this.#start(objectIn(event.message))],
      ['content_block_start', event => this.#startBlock(objectIn(event.content_block))],
      ['content_block_delta', event => this.#delta(objectIn(event.delta))],
      ['content_block_stop', () => this.#stopBlock()],
      ['message_delta', event => this.#finish(objectIn(event.delta), objectIn(event.usage))],
      ['message_stop', () => this.#complete()],
      ['ping', () => keepAlive],
      ['error', event => this.#fail(objectIn(event.error))],
    ])
  }

  get isComplete(): boolean {
    return this.#state === 'complete'
  }

  get isBroken(): boolean {
    return this.#state === 'broken' || this.#reader.isOverfull
  }

  push(bytes: Buffer): string {
    let text = ''
    this.#reader.push(bytes, (_name, data) => {
      text += this.#take(data)
    })
    return text
  }

  end(): string {
    let text = ''
    this.#reader.end((_name, data) => {
      if (readObject(data) !== null) text += this.#take(data)
    })
    return text
  }

  /** Translates one event; unknown types are skipped, since new ones may appear any day, but an unreadable event leaves a gap, so that nothing may follow it. */
  #take(data: string): string {
    if (this.#state !== 'open') return ''
    const event = readObject(data)
    if (!event) this.#state = 'broken'
    return this.#handlers.get(event?.type)?.(event!) ?? ''
  }

  #start(message: JsonObject): string {
    this.#id = textIn(message.id)
    this.#model = textIn(message.model)
    this.#usage = objectIn(message.usage)
    return this.#chunk({ role: 'assistant', content: '', refusal: null })
  }

  #startBlock(block: JsonObject): string {
    if (block.type === 'text') return this.#say(block.text)
    if (block.type !== 'tool_use') return ''
    const call = { index: this.#calls++, input: block.input, hasArguments: false }
    this.#call = call
    const named = { name: textIn(block.name), arguments: '' }
    return this.#chunk({
      tool_calls: [{ index: call.index, id: textIn(block.id), type: 'function', function: named }],
    })
  }

  #delta(delta: JsonObject): string {
    if (delta.type === 'text_delta') return this.#say(delta.text)
    return delta.type === 'input_json_delta' ? this.#writeArguments(textIn(delta.partial_json)) : ''
  }

  /** Ends a block; a call without arguments has none in its events, where chat requires an empty object. */
  #stopBlock(): string {
    const call = this.#call
    const isBare = call !== null && !call.hasArguments
    const text = isBare ? this.#writeArguments(JSON.stringify(call.input ?? {})) : ''
    this.#call = null
    return text
  }

  #say(content: unknown): string {
    return textIn(content) === '' ? '' : this.#chunk({ content })
  }

  #writeArguments(json: string): string {
    if (!this.#call || json === '') return ''
    this.#call.hasArguments = true
    return this.#chunk({ tool_calls: [{ index: this.#call.index, function: { arguments: json } }] })
  }

  /** The counts in this event are for the whole response so far; those that are missing or null stay as they were. */
  #finish(delta: JsonObject, usage: JsonObject): string {
    const counts = Object.entries(usage).filter(([, count]) => count !== null)
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) }
    const refusal = refusalOf(delta)
    return this.#chunk(refusal === null ? {} : { refusal }, finishReason(delta.stop_reason))
  }

  #complete(): string {
    this.#state = 'complete'
    const usage = chatUsage(countsOfMessages(this.#usage))
    const last = this.#withUsage && usage ? eventOf({ ...this.#head(), choices: [], usage }) : ''
    return `${last}data: [DONE]\n\n`
  }

  /** Passes on that the provider failed: the stream reports it, so that it counts as complete. */
  #fail(error: JsonObject): string {
    this.#state = 'complete'
    const message = textIn(error.message) || 'The provider failed.'
    return eventOf({ error: { message, type: textIn(error.type) || 'api_error', param: null, code: null } })
  }

  #chunk(delta: JsonObject, finish_reason: string | null = null): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }]
    return eventOf({ ...this.#head(), choices, ...(this.#withUsage ? { usage: null } : {}) })
  }

  #head() {
    return {
      id: this.#id,
      object: 'chat.completion.chunk',
      created: this.#created,
      model: this.#model,
      ...chatServiceTier(this.#usage),
    }
  }
}

/** A comment, which readers of event streams ignore. */
const keepAlive = ': ping\n\n'

function eventOf(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`
}
