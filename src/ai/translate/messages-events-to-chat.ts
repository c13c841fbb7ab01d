// Translates the events of Messages into chunks of a chat completion, one at a time.

import { argumentsText, CallIds, ObjectEnd } from './calls.ts'
import { type JsonObject, objectIn, readObject, textIn } from './json.ts'
import { chatServiceTier, createdAt, refusalOf } from './messages-response-to-chat.ts'
import { chatUsage, countsOfMessages, finishReason } from './outcome.ts'
import { EventTranslator } from './translation.ts'

interface OpenCall {
  readonly index: number
  readonly input: unknown
  readonly end: ObjectEnd
}

type Handler = (event: JsonObject) => string

export class ChatEvents extends EventTranslator {
  readonly #withUsage: boolean
  readonly #asFunction: boolean
  readonly #created: number
  readonly #handlers: ReadonlyMap<unknown, Handler>
  #id = ''
  #model = ''
  #usage: JsonObject = {}
  #calls = 0
  readonly #ids = new CallIds()
  readonly #blocks = new Map<unknown, OpenCall | null>()
  #lastBlock: unknown

  /** `asFunction` writes a call in the older shape, which has room for one. */
  constructor({
    withUsage,
    now,
    asFunction = false,
  }: {
    readonly withUsage: boolean
    readonly now: number
    readonly asFunction?: boolean
  }) {
    super()
    this.#withUsage = withUsage
    this.#asFunction = asFunction
    this.#created = createdAt(now)
    this.#handlers = new Map<unknown, Handler>([
      ['message_start', event => this.#start(objectIn(event.message))],
      ['content_block_start', event => this.#startBlock(event.index, objectIn(event.content_block))],
      ['content_block_delta', event => this.#delta(event.index, objectIn(event.delta))],
      ['content_block_stop', event => this.#stopBlock(event.index)],
      ['message_delta', event => this.#finish(objectIn(event.delta), objectIn(event.usage))],
      ['message_stop', () => this.#complete()],
      ['ping', () => keepAlive],
      ['error', event => this.#fail(objectIn(event.error))],
    ])
  }

  /** Unknown types are skipped, since new ones may appear any day. */
  protected take(data: string): string {
    const event = readObject(data)
    return event ? (this.#handlers.get(event.type)?.(event) ?? '') : this.break()
  }

  #start(message: JsonObject): string {
    this.#id = textIn(message.id)
    this.#model = textIn(message.model)
    this.#usage = objectIn(message.usage)
    return this.#chunk({ role: 'assistant', content: '', refusal: null })
  }

  #startBlock(place: unknown, block: JsonObject): string {
    // Some providers do not end a block, or give all blocks one index.
    const before = this.#blocks.has(place) ? this.#stopBlock(place) : ''
    this.#lastBlock = place
    this.#blocks.set(place, null)
    if (block.type === 'text') return before + this.#say(block.text)
    if (block.type !== 'tool_use') return before
    const name = textIn(block.name)
    // A call without a name cannot be run.
    if (name === '') return this.break()
    const call = { index: this.#calls++, input: block.input, end: new ObjectEnd() }
    this.#blocks.set(place, call)
    if (this.#asFunction)
      return call.index > 0 ? this.break() : before + this.#chunk({ function_call: { name, arguments: '' } })
    const id = this.#ids.take(block.id)
    const begun = { index: call.index, id, type: 'function', function: { name, arguments: '' } }
    return before + this.#chunk({ tool_calls: [begun] })
  }

  #delta(place: unknown, delta: JsonObject): string {
    if (delta.type === 'text_delta') return this.#say(delta.text)
    if (delta.type !== 'input_json_delta') return ''
    const call = this.#blocks.get(place ?? this.#lastBlock)
    // Without a block, the call of these arguments is unknown.
    if (call === undefined) return this.break()
    return call === null ? '' : this.#writeArguments(call, argumentsText(delta.partial_json))
  }

  /** A call without arguments has none in its events, but chat requires an empty object. */
  #stopBlock(place: unknown = this.#lastBlock): string {
    const call = this.#blocks.get(place)
    this.#blocks.delete(place)
    if (!call || call.end.hasBegun) return ''
    return this.#writeArguments(call, argumentsText(call.input) || '{}')
  }

  #say(content: unknown): string {
    return textIn(content) === '' ? '' : this.#chunk({ content })
  }

  /** Text behind the object would make the arguments unreadable, so that nothing more is sent. */
  #writeArguments(call: OpenCall, json: string): string {
    if (!call.end.take(json)) return this.break()
    if (json === '') return ''
    const piece = { arguments: json }
    return this.#chunk(
      this.#asFunction ? { function_call: piece } : { tool_calls: [{ index: call.index, function: piece }] },
    )
  }

  /** The counts in this event are for the whole response so far; missing ones stay as they were. */
  #finish(delta: JsonObject, usage: JsonObject): string {
    const counts = Object.entries(usage).filter(([, count]) => count !== null)
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) }
    const rest = [...this.#blocks.keys()].map(place => this.#stopBlock(place)).join('')
    const refusal = refusalOf(delta)
    return (
      rest +
      this.#chunk(refusal === null ? {} : { refusal }, finishReason(delta.stop_reason, this.#asFunction))
    )
  }

  #complete(): string {
    this.state = 'complete'
    const usage = chatUsage(countsOfMessages(this.#usage))
    const last = this.#withUsage && usage ? eventOf({ ...this.#head(), choices: [], usage }) : ''
    return `${last}data: [DONE]\n\n`
  }

  /** The stream passes a failure of the provider on, so it counts as complete. */
  #fail(error: JsonObject): string {
    this.state = 'complete'
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
