// Translates the events of Messages into those of Responses, one at a time.

import { argumentsText, CallIds, ObjectEnd } from '../calls.ts'
import { type JsonObject, objectIn, readObject, textIn } from '../json.ts'
import { ResponseWriter } from '../responses/response-writer.ts'
import { type CallerTool, inputFor } from '../responses/responses-tools.ts'
import { EventTranslator } from '../translation.ts'
import { finish, packedThinking, type ResponseOptions } from './messages-response-to-responses.ts'

interface Thinking {
  readonly kind: 'thinking'
  readonly type: unknown
  readonly data: unknown
  thinking: string
  signature: string
}

interface Call {
  readonly kind: 'call'
  readonly tool: CallerTool
  readonly written: ReturnType<ResponseWriter['call']>
  readonly input: unknown
  readonly end: ObjectEnd
  /** What a tool that takes no JSON waits for. */
  unsent: string
}

type Block = Thinking | Call | null

type Handler = (event: JsonObject) => void

export class ResponseEventsOfMessages extends EventTranslator {
  readonly #options: ResponseOptions
  readonly #writer: ResponseWriter
  readonly #ids = new CallIds()
  /** Null for a text. */
  readonly #blocks = new Map<unknown, Block>()
  readonly #handlers: ReadonlyMap<unknown, Handler>
  #lastBlock: unknown
  #usage: JsonObject = {}
  #ending: JsonObject = {}

  constructor(options: ResponseOptions) {
    super()
    this.#options = options
    this.#writer = new ResponseWriter(options.settings, options.now(), true)
    this.#handlers = new Map<unknown, Handler>([
      ['content_block_start', event => this.#startBlock(event.index, objectIn(event.content_block))],
      ['content_block_delta', event => this.#delta(event.index, objectIn(event.delta))],
      ['content_block_stop', event => this.#stopBlock(event.index)],
      ['message_delta', event => this.#end(objectIn(event.delta), objectIn(event.usage))],
      ['message_stop', () => this.#complete()],
    ])
  }

  /** Unknown types are skipped, since new ones may appear any day. */
  protected take(data: string): string {
    const event = readObject(data)
    if (!event) return this.break()
    if (event.type === 'ping') return keepAlive
    if (event.type === 'error') this.#fail(event.error)
    else if (this.state === 'new') this.#start(objectIn(event.message))
    this.#handlers.get(event.type)?.(event)
    return this.isBroken ? '' : this.#writer.flush()
  }

  #start(message: JsonObject): void {
    this.state = 'open'
    this.#usage = objectIn(message.usage)
    this.#writer.start(message)
  }

  #startBlock(place: unknown, { type, name, id, input, data, text, thinking }: JsonObject): void {
    // Some providers do not end a block, or give all blocks one index.
    if (this.#blocks.has(place)) this.#stopBlock(place)
    if (this.#blocks.get(this.#lastBlock)?.kind === 'thinking') this.#stopBlock()
    this.#lastBlock = place
    this.#blocks.set(place, null)
    if (type === 'text') this.#writer.say(textIn(text))
    else if (type === 'thinking' || type === 'redacted_thinking') {
      this.#blocks.set(place, { kind: 'thinking', type, data, thinking: '', signature: '' })
      this.#think(place, textIn(thinking))
    } else if (type === 'tool_use') {
      // A call without a name cannot be run.
      if (textIn(name) === '') return void this.break()
      const tool = this.#options.names.toolOf(textIn(name))
      const written = this.#writer.call(this.#ids.take(id), tool)
      this.#blocks.set(place, { kind: 'call', tool, written, input, end: new ObjectEnd(), unsent: '' })
    }
  }

  #delta(place: unknown = this.#lastBlock, delta: JsonObject): void {
    const block = this.#blocks.get(place)
    if (delta.type === 'text_delta') this.#writer.say(textIn(delta.text))
    else if (delta.type === 'thinking_delta') this.#think(place, textIn(delta.thinking))
    else if (delta.type === 'signature_delta' && block?.kind === 'thinking')
      block.signature += textIn(delta.signature)
    else if (delta.type === 'input_json_delta') {
      // Without a block, the call of these arguments is unknown.
      if (block === undefined) return void this.break()
      if (block?.kind === 'call') this.#writeArguments(block, argumentsText(delta.partial_json))
    }
  }

  #think(place: unknown, text: string): void {
    const block = this.#blocks.get(place)
    if (block?.kind !== 'thinking') return
    block.thinking += text
    this.#writer.think(text)
  }

  /** Text behind the object would make the arguments unreadable, so that nothing more is sent. */
  #writeArguments(call: Call, json: string): void {
    if (!call.end.take(json)) return void this.break()
    if (call.tool.type === 'function') call.written.add(json)
    else call.unsent += json
  }

  #stopBlock(place: unknown = this.#lastBlock): void {
    const block = this.#blocks.get(place)
    this.#blocks.delete(place)
    if (block?.kind === 'thinking') this.#writer.seal(packedThinking({ ...block }, this.#options.tag))
    if (block?.kind !== 'call') return
    // A call without arguments has none in its events.
    const json = block.end.hasBegun ? block.unsent : argumentsText(block.input) || '{}'
    block.written.add(block.tool.type === 'function' ? json : inputFor(block.tool, json))
    // One that was cut must not look complete.
    if (block.end.isReached || !block.end.hasBegun) block.written.close()
  }

  /** The counts in this event are for the whole response so far; missing ones stay as they were. */
  #end(delta: JsonObject, usage: JsonObject): void {
    const counts = Object.entries(usage).filter(([, count]) => count !== null)
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) }
    this.#ending = delta
    for (const place of this.#blocks.keys()) this.#stopBlock(place)
  }

  #complete(): void {
    this.state = 'complete'
    finish(this.#writer, this.#ending, this.#usage, this.#options.now())
  }

  /** The stream passes a failure of the provider on, so it counts as complete. */
  #fail(error: unknown): void {
    this.state = 'complete'
    this.#writer.fail(error)
  }
}

/** A comment, which readers of event streams ignore. */
const keepAlive = ': ping\n\n'
