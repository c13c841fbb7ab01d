// Translates the events of Responses into chunks of a chat completion, one at a time.

import { argumentsText, CallIds } from '../calls.ts'
import { type ChunkOptions, ChunkWriter } from '../chat/chunk-writer.ts'
import { type JsonObject, objectIn, objectsIn, readObject, textIn } from '../json.ts'
import { chatUsage, countsOfResponses } from '../outcome.ts'
import { EventTranslator } from '../translation.ts'
import { callTypes, finishReasonOf, serviceTierOf } from './responses-response-to-chat.ts'

/** An item of the output. Its end repeats what its pieces said, and so does the end of the stream. */
class Item {
  /** Characters of each part so far. */
  readonly sizes = new Map<unknown, number>()
  /** Of a call that has begun. */
  call: number | null = null
  isOver = false
}

type Handler = (event: JsonObject) => string

export class ChatEventsOfResponse extends EventTranslator {
  readonly #chunks: ChunkWriter
  readonly #asFunction: boolean
  readonly #handlers: ReadonlyMap<unknown, Handler>
  /** By their number and their ids. */
  readonly #items = new Map<unknown, Item>()
  readonly #ids = new CallIds()
  #calls = 0

  constructor(options: ChunkOptions) {
    super()
    this.#chunks = new ChunkWriter(options)
    this.#asFunction = options.asFunction ?? false
    const piece = (event: JsonObject) => this.#argue(this.#item(event), argumentsText(event.delta))
    this.#handlers = new Map<unknown, Handler>([
      ['response.output_item.added', event => this.#begin(this.#item(event), objectIn(event.item))],
      ['response.output_text.delta', event => this.#say(event, 'content')],
      ['response.refusal.delta', event => this.#say(event, 'refusal')],
      ['response.function_call_arguments.delta', piece],
      ['response.custom_tool_call_input.delta', piece],
      ['response.output_item.done', event => this.#finish(this.#item(event), objectIn(event.item))],
      ['response.completed', ({ response }) => this.#complete(objectIn(response))],
      ['response.incomplete', ({ response }) => this.#complete(objectIn(response))],
    ])
  }

  /** Unknown types are skipped, since new ones may appear any day. */
  protected take(data: string): string {
    if (data === done) return ''
    const event = readObject(data)
    if (!event) return this.break()
    const { type, response, error } = event
    if (type === 'response.failed') return this.#fail(objectIn(objectIn(response).error))
    if (type === 'error' || (type === undefined && error)) return this.#fail(error ? objectIn(error) : event)
    const start = this.state === 'new' ? this.#start(objectIn(response)) : ''
    const text = start + (this.#handlers.get(type)?.(event) ?? '')
    return this.state === 'broken' ? '' : text
  }

  protected override isWhole(data: string): boolean {
    return data === done || super.isWhole(data)
  }

  #start(response: JsonObject): string {
    this.state = 'open'
    this.#chunks.id = textIn(response.id)
    this.#chunks.model = textIn(response.model)
    this.#chunks.serviceTier = serviceTierOf(response)
    return this.#chunks.start()
  }

  /** Some servers number no items. */
  #item({ output_index, item_id, item }: JsonObject): Item {
    const { id, call_id } = objectIn(item)
    const ids = [item_id, id, call_id].filter(name => textIn(name) !== '')
    const key = output_index ?? ids[0]
    const openItem = this.#items.get(key) ?? new Item()
    for (const name of [key, ...ids]) this.#items.set(name, openItem)
    return openItem
  }

  /** Some servers number items otherwise than the final output has them. */
  #finalItem({ id, call_id }: JsonObject, output_index: number): Item {
    return this.#items.get(id) ?? this.#items.get(call_id) ?? this.#item({ output_index })
  }

  #begin(item: Item, { type, call_id, name }: JsonObject): string {
    return callTypes.has(type) && textIn(name) !== ''
      ? this.#beginCall(item, type, call_id, textIn(name))
      : ''
  }

  #beginCall(item: Item, type: unknown, id: unknown, name: string): string {
    if (item.call !== null) return ''
    item.call = this.#calls++
    const isCustom = type === 'custom_tool_call'
    return this.#chunks.call(item.call, this.#ids.take(id), name, isCustom) ?? this.break()
  }

  #say(event: JsonObject, member: 'content' | 'refusal'): string {
    const { content_index = 0, delta } = event
    return this.#add(this.#item(event), content_index, member, textIn(delta))
  }

  #add(item: Item, part: unknown, member: 'content' | 'refusal', text: string): string {
    if (text === '' || item.isOver) return ''
    item.sizes.set(part, (item.sizes.get(part) ?? 0) + text.length)
    return this.#chunks.chunk({ [member]: text })
  }

  /** Arguments of a call that has no name yet come again at its end. */
  #argue(item: Item, text: string): string {
    if (item.call === null || item.isOver) return ''
    item.sizes.set(0, (item.sizes.get(0) ?? 0) + text.length)
    return this.#chunks.arguments(item.call, text)
  }

  /** Adds what the pieces of an item lacked. */
  #finish(item: Item, final: JsonObject): string {
    if (item.isOver) return ''
    const text = callTypes.has(final.type) ? this.#finishCall(item, final) : this.#finishMessage(item, final)
    item.isOver = true
    return text
  }

  #finishMessage(item: Item, { type, content }: JsonObject): string {
    if (type !== 'message') return ''
    const rests = objectsIn(content).map((part, i) => {
      const isRefusal = part.type === 'refusal'
      const rest = textIn(isRefusal ? part.refusal : part.text).slice(item.sizes.get(i) ?? 0)
      return this.#add(item, i, isRefusal ? 'refusal' : 'content', rest)
    })
    return rests.join('')
  }

  #finishCall(item: Item, { type, call_id, name, input, arguments: value }: JsonObject): string {
    // A call without a name cannot be run.
    if (item.call === null && textIn(name) === '') return this.break()
    const start = this.#beginCall(item, type, call_id, textIn(name))
    const whole = type === 'custom_tool_call' ? textIn(input) : argumentsText(value) || '{}'
    return start + this.#argue(item, whole.slice(item.sizes.get(0) ?? 0))
  }

  /** The whole output comes again: an item that had no end of its own gets it now. */
  #complete(response: JsonObject): string {
    const rest = objectsIn(response.output).map((item, index) =>
      this.#finish(this.#finalItem(item, index), item),
    )
    if (this.state === 'broken') return ''
    this.state = 'complete'
    this.#chunks.serviceTier = serviceTierOf(response)
    const end = this.#chunks.chunk({}, finishReasonOf(response, this.#calls > 0, this.#asFunction))
    const usage = chatUsage(countsOfResponses(objectIn(response.usage)))
    return rest.join('') + end + this.#chunks.end(usage)
  }

  /** The stream passes a failure of the provider on, so it counts as complete. */
  #fail(error: JsonObject): string {
    this.state = 'complete'
    return this.#chunks.fail(error)
  }
}

/** Some servers end the stream as that of a chat. */
const done = '[DONE]'
