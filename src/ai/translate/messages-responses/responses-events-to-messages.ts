// Translates the events of Responses into those of Messages, one at a time.

import { argumentsText, CallIds, ObjectEnd } from '../calls.ts'
import { type JsonObject, objectIn, objectsIn, readObject, textIn } from '../json.ts'
import { message, messageEvent, refusalDetails, textBlock, toolUse } from '../messages/message-parts.ts'
import { countsOfResponses, messagesErrorType, messagesUsage } from '../outcome.ts'
import { EventTranslator } from '../translation.ts'
import { BlockQueue, type QueuedBlock } from './block-queue.ts'
import {
  packedReasoning,
  paragraphs,
  partsOf,
  redactedThinking,
  stopReasonOf,
  textOfPart,
  thinkingText,
} from './responses-response-to-messages.ts'

/** An item of the output. Its end repeats what its pieces said, and so does the end of the stream. */
class Item {
  readonly type: unknown
  /** The texts of a message by their index; thinking and arguments have one part. */
  readonly parts = new Map<unknown, Part>()
  /** The index of the paragraph of thinking that was written last. */
  paragraph: unknown = 0
  isOver = false

  constructor(type: unknown) {
    this.type = type
  }

  endParts(): void {
    for (const { block } of this.parts.values()) block.isDone = true
  }
}

interface Part {
  readonly block: QueuedBlock
  /** Of arguments: text behind it would make them unreadable. */
  readonly end: ObjectEnd
  /** Characters of its text so far. */
  size: number
}

type Handler = (event: JsonObject) => void

export class MessageEventsOfResponse extends EventTranslator {
  readonly #tag: string
  readonly #queue = new BlockQueue()
  /** By their number. */
  readonly #items = new Map<unknown, Item>()
  readonly #itemsById = new Map<unknown, Item>()
  /** Of the items that are over. */
  readonly #ids = new Set<unknown>()
  readonly #callIds = new CallIds()
  readonly #handlers: ReadonlyMap<unknown, Handler>
  #refusal = ''
  #hasToolUse = false

  /** `tag` marks reasoning as that of the provider. */
  constructor(tag: string) {
    super()
    this.#tag = tag
    this.#handlers = new Map<unknown, Handler>([
      ['response.output_item.added', ({ output_index: at, item }) => this.#begin(at, objectIn(item))],
      ['response.output_text.delta', event => this.#say(event)],
      ['response.refusal.delta', event => this.#refuse(event)],
      ['response.reasoning_summary_text.delta', event => this.#think(event, event.summary_index)],
      ['response.reasoning_text.delta', event => this.#think(event, event.content_index)],
      ['response.function_call_arguments.delta', event => this.#argue(event)],
      [
        'response.output_item.done',
        event => this.#finish(this.#item(event, objectIn(event.item).type), objectIn(event.item)),
      ],
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
    if (type === 'response.completed' || type === 'response.incomplete')
      return start + this.#complete(objectIn(response))
    this.#handlers.get(type)?.(event)
    if (this.isBroken) return ''
    const text = start + this.#queue.write()
    return this.#queue.isOverfull ? this.break() : text
  }

  protected override isWhole(data: string): boolean {
    return data === done || super.isWhole(data)
  }

  #start(response: JsonObject): string {
    this.state = 'open'
    const counts = countsOfResponses(objectIn(response.usage))
    return messageEvent({ type: 'message_start', message: message(response, counts, [], null) })
  }

  #begin(index: unknown, { type, id, call_id, name }: JsonObject): void {
    const before = this.#items.get(index)
    if (before !== undefined && before === this.#itemsById.get(id ?? call_id)) return
    before?.endParts()
    const item = this.#addItem(index, type, id ?? call_id)
    if (type === 'function_call' && textIn(name) !== '') this.#beginCall(item, call_id, textIn(name))
  }

  #beginCall(item: Item, id: unknown, name: string): Part {
    this.#hasToolUse = true
    return this.#part(item, 0, () => toolUse(this.#callIds.take(id), name, {}))
  }

  /** Some servers omit the event that begins an item. */
  #item({ output_index, item_id }: JsonObject, type: unknown): Item {
    return this.#items.get(output_index) ?? this.#addItem(output_index, type, item_id)
  }

  #addItem(index: unknown, type: unknown, id: unknown): Item {
    const item = new Item(type)
    this.#items.set(index, item)
    if (textIn(id) !== '') this.#itemsById.set(id, item)
    return item
  }

  /** Some servers number items otherwise than the final output has them. */
  #finalItem({ type, id, call_id }: JsonObject, output_index: number): Item {
    const begun = this.#itemsById.get(id ?? call_id)
    return begun ?? this.#item({ output_index }, type)
  }

  /** A text begins when the one before it is over. */
  #part(item: Item, index: unknown, start: () => JsonObject): Part {
    const begun = item.parts.get(index)
    if (begun !== undefined) return begun
    item.endParts()
    const part = { block: this.#queue.add(start()), end: new ObjectEnd(), size: 0 }
    item.parts.set(index, part)
    return part
  }

  #write(part: Part, type: string, member: string, text: string): void {
    if (part.block.isDone) return
    part.size += text.length
    this.#queue.append(part.block, type, member, text)
  }

  #say(event: JsonObject): void {
    const { content_index = 0, delta } = event
    this.#text(this.#item(event, 'message'), content_index, textIn(delta))
  }

  #text(item: Item, index: unknown, text: string): void {
    if (text === '') return
    this.#write(
      this.#part(item, index, () => textBlock('')),
      'text_delta',
      'text',
      text,
    )
  }

  #refuse(event: JsonObject): void {
    this.#refusal += textIn(event.delta)
    this.#say(event)
  }

  #think(event: JsonObject, paragraph: unknown = 0): void {
    const { delta } = event
    const item = this.#item(event, 'reasoning')
    const isNext = item.parts.size > 0 && item.paragraph !== paragraph
    item.paragraph = paragraph
    this.#thought(item, isNext ? paragraphs + textIn(delta) : textIn(delta))
  }

  #thought(item: Item, text: string): void {
    if (text === '') return
    const part = this.#part(item, 0, () => ({ type: 'thinking', thinking: '', signature: '' }))
    this.#write(part, 'thinking_delta', 'thinking', text)
  }

  /** Arguments of a call that has no name yet come again at its end. */
  #argue({ output_index, delta }: JsonObject): void {
    const part = this.#items.get(output_index)?.parts.get(0)
    if (part !== undefined) this.#writeArguments(part, argumentsText(delta))
  }

  #writeArguments(part: Part, json: string): void {
    if (part.end.take(json)) this.#write(part, 'input_json_delta', 'partial_json', json)
    else this.break()
  }

  /** Adds what the pieces of an item lacked, and the ciphertext, which comes last. */
  #finish(begun: Item, final: JsonObject): void {
    const item = begun.type === final.type ? begun : new Item(final.type)
    if (this.#isRepeated(final) || item.isOver) return
    item.isOver = true
    if (final.type === 'message') this.#finishMessage(item, final)
    else if (final.type === 'reasoning') this.#finishThinking(item, final)
    else if (final.type === 'function_call') this.#finishCall(item, final)
    item.endParts()
  }

  #isRepeated({ id, call_id }: JsonObject): boolean {
    const names = [id, call_id].filter(name => textIn(name) !== '')
    const isKnown = names.some(name => this.#ids.has(name))
    for (const name of names) this.#ids.add(name)
    return isKnown
  }

  #finishMessage(item: Item, final: JsonObject): void {
    for (const [i, part] of partsOf(final).entries()) {
      const rest = textOfPart(part).slice(item.parts.get(i)?.size ?? 0)
      if (part.type === 'refusal') this.#refusal += rest
      this.#text(item, i, rest)
    }
  }

  #finishThinking(item: Item, final: JsonObject): void {
    this.#thought(item, thinkingText(final).slice(item.parts.get(0)?.size ?? 0))
    const packed = packedReasoning(final, this.#tag)
    const part = item.parts.get(0)
    if (part !== undefined) this.#queue.append(part.block, 'signature_delta', 'signature', packed)
    else if (packed !== this.#tag) this.#queue.add(redactedThinking(packed)).isDone = true
  }

  #finishCall(item: Item, { call_id, name, arguments: value }: JsonObject): void {
    // A call without a name cannot be run.
    if (item.parts.size === 0 && textIn(name) === '') return void this.break()
    const part = item.parts.get(0) ?? this.#beginCall(item, call_id, textIn(name))
    this.#writeArguments(part, argumentsText(value).slice(part.size))
  }

  /** The whole output comes again: an item that had no end of its own gets it now. */
  #complete(response: JsonObject): string {
    for (const [index, item] of objectsIn(response.output).entries())
      this.#finish(this.#finalItem(item, index), item)
    if (this.isBroken) return ''
    const rest = this.#queue.write(true)
    this.state = 'complete'
    const ending = { isRefusal: this.#refusal !== '', hasToolUse: this.#hasToolUse }
    const delta = {
      stop_reason: stopReasonOf(response, ending),
      stop_sequence: null,
      ...refusalDetails(this.#refusal),
    }
    const usage = messagesUsage(countsOfResponses(objectIn(response.usage)))
    return `${rest}${messageEvent({ type: 'message_delta', delta, usage })}${messageEvent({ type: 'message_stop' })}`
  }

  /** The stream passes a failure of the provider on, so it counts as complete. */
  #fail(error: JsonObject): string {
    this.state = 'complete'
    const message = textIn(error.message) || 'The provider failed.'
    return messageEvent({ type: 'error', error: { type: messagesErrorType(error), message } })
  }
}

/** Some servers end the stream as that of a chat. */
const done = '[DONE]'
