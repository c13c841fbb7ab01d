// Translates the events of Messages into chunks of a chat completion, one at a time.

import { argumentsText, CallIds, ObjectEnd } from './calls.ts'
import { type ChunkOptions, ChunkWriter } from './chat/chunk-writer.ts'
import { type JsonObject, objectIn, readObject, textIn } from './json.ts'
import { chatServiceTier, refusalOf } from './messages-response-to-chat.ts'
import { chatUsage, countsOfMessages, finishReason } from './outcome.ts'
import { EventTranslator } from './translation.ts'

interface OpenCall {
  readonly index: number
  readonly input: unknown
  readonly end: ObjectEnd
}

type Handler = (event: JsonObject) => string

export class ChatEvents extends EventTranslator {
  readonly #chunks: ChunkWriter
  readonly #asFunction: boolean
  readonly #handlers: ReadonlyMap<unknown, Handler>
  #usage: JsonObject = {}
  /** Sent once the message is complete. */
  #lastChunk = ''
  #calls = 0
  readonly #ids = new CallIds()
  readonly #blocks = new Map<unknown, OpenCall | null>()
  #lastBlock: unknown

  constructor(options: ChunkOptions) {
    super()
    this.#chunks = new ChunkWriter(options)
    this.#asFunction = options.asFunction ?? false
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
    this.#chunks.id = textIn(message.id)
    this.#chunks.model = textIn(message.model)
    this.#read(objectIn(message.usage))
    return this.#chunks.start()
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
    const begun = this.#chunks.call(call.index, this.#ids.take(block.id), name)
    return begun === null ? this.break() : before + begun
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
    return textIn(content) === '' ? '' : this.#chunks.chunk({ content })
  }

  /** Text behind the object would make the arguments unreadable, so that nothing more is sent. */
  #writeArguments(call: OpenCall, json: string): string {
    if (!call.end.take(json)) return this.break()
    return this.#chunks.arguments(call.index, json)
  }

  /** The counts in this event are for the whole response so far; missing ones stay as they were. */
  #finish(delta: JsonObject, usage: JsonObject): string {
    const counts = Object.entries(usage).filter(([, count]) => count !== null)
    this.#read({ ...this.#usage, ...Object.fromEntries(counts) })
    const rest = [...this.#blocks.keys()].map(place => this.#stopBlock(place)).join('')
    const refusal = refusalOf(delta)
    const reason = finishReason(delta.stop_reason, this.#asFunction)
    // Many clients take the reason for the end, and would see nothing of a failure behind it.
    this.#lastChunk = this.#chunks.chunk(refusal === null ? {} : { refusal }, reason)
    return rest
  }

  #complete(): string {
    this.state = 'complete'
    return this.#lastChunk + this.#chunks.end(chatUsage(countsOfMessages(this.#usage)))
  }

  /** The stream passes a failure of the provider on, so it counts as complete. */
  #fail(error: JsonObject): string {
    this.state = 'complete'
    return this.#chunks.fail(error)
  }

  #read(usage: JsonObject): void {
    this.#usage = usage
    this.#chunks.serviceTier = chatServiceTier(usage)
  }
}

/** A comment, which readers of event streams ignore. */
const keepAlive = ': ping\n\n'
