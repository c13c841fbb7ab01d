// Translates the chunks of a chat completion into events of Messages, one at a time.

import { SseReader } from '../sse.ts'
import {
  contentText,
  firstChoice,
  message,
  refusalDetails,
  textBlock,
  toolUse,
} from './chat-response-to-messages.ts'
import { type JsonObject, objectIn, objectsIn, readObject, textIn } from './json.ts'
import { countsOfChat, messagesErrorType, messagesUsage, stopReason } from './outcome.ts'
import type { EventTranslator } from './translation.ts'

/** The block that is being written. */
type Block =
  | { readonly kind: 'text' }
  | { readonly kind: 'call'; readonly id: string; readonly place: unknown }

type State = 'new' | 'open' | 'complete' | 'broken'

export class MessageEvents implements EventTranslator {
  readonly #reader = new SseReader()
  #state: State = 'new'
  #block: Block | null = null
  /** The index of the block that is being written, or else of the next one. */
  #index = 0
  /** The ids and the indexes of the calls whose blocks were begun. */
  readonly #calls = new Set<unknown>()
  #finish = ''
  #refusal = ''
  #usage: JsonObject = {}

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

  /** Ends a stream that had its finish_reason but omitted the `[DONE]` after it. */
  end(): string {
    let text = ''
    this.#reader.end((_name, data) => {
      if (data === '[DONE]' || readObject(data) !== null) text += this.#take(data)
    })
    return this.#finish === '' ? text : text + this.#complete()
  }

  #take(data: string): string {
    if (this.#state === 'complete' || this.#state === 'broken') return ''
    if (data === '[DONE]') return this.#complete()
    const chunk = readObject(data)
    if (!chunk) return this.#break()
    if (chunk.error) return this.#fail(chunk.error)
    if (chunk.usage) this.#usage = objectIn(chunk.usage)
    const choice = firstChoice(chunk.choices)
    if (!choice) return ''
    const start = this.#state === 'new' ? this.#start(chunk) : ''
    return start + this.#choose(choice)
  }

  #start(chunk: JsonObject): string {
    this.#state = 'open'
    return eventOf({ type: 'message_start', message: message(chunk, [], null) })
  }

  #choose({ delta, finish_reason }: JsonObject): string {
    const { content, refusal, tool_calls } = objectIn(delta)
    this.#refusal += textIn(refusal)
    this.#finish = textIn(finish_reason) || this.#finish
    const said = this.#say(contentText(content)) + this.#say(textIn(refusal))
    return objectsIn(tool_calls).reduce((text, call) => text + this.#write(call), said)
  }

  #say(text: string): string {
    if (text === '') return ''
    const start = this.#block?.kind === 'text' ? '' : this.#open({ kind: 'text' }, textBlock(''))
    return start + this.#delta({ type: 'text_delta', text })
  }

  /** Writes a piece of a call; one for a call whose block has ended is too late to be written in order. */
  #write(piece: JsonObject): string {
    if (this.#state === 'broken') return ''
    const isCurrent = this.#continues(piece)
    const id = textIn(piece.id)
    if (!isCurrent && this.#calls.has(id || piece.index)) return this.#break()
    const start = isCurrent ? '' : this.#open({ kind: 'call', id, place: piece.index }, toolUse(piece, {}))
    this.#calls.add(id).add(piece.index)
    const json = textIn(objectIn(piece.function).arguments)
    return start + (json === '' ? '' : this.#delta({ type: 'input_json_delta', partial_json: json }))
  }

  /** Whether a piece belongs to the open call: some providers omit the index, others the id, and some use the same index for every call. */
  #continues({ id, index }: JsonObject): boolean {
    const block = this.#block
    if (block?.kind !== 'call') return false
    return id ? id === block.id : index === undefined || index === block.place
  }

  #open(block: Block, content_block: JsonObject): string {
    const end = this.#close()
    this.#block = block
    return end + eventOf({ type: 'content_block_start', index: this.#index, content_block })
  }

  #delta(delta: JsonObject): string {
    return eventOf({ type: 'content_block_delta', index: this.#index, delta })
  }

  #close(): string {
    if (!this.#block) return ''
    this.#block = null
    return eventOf({ type: 'content_block_stop', index: this.#index++ })
  }

  #complete(): string {
    if (this.#state !== 'open') return ''
    this.#state = 'complete'
    const ending = { isRefusal: this.#refusal !== '', hasToolUse: this.#calls.size > 0 }
    const delta = {
      stop_reason: stopReason(this.#finish, ending),
      stop_sequence: null,
      ...refusalDetails(this.#refusal),
    }
    const usage = messagesUsage(countsOfChat(this.#usage))
    return `${this.#close()}${eventOf({ type: 'message_delta', delta, usage })}${eventOf({ type: 'message_stop' })}`
  }

  /** Passes on that the provider failed: the stream reports it, so that it counts as complete. */
  #fail(error: unknown): string {
    this.#state = 'complete'
    const message = textIn(error) || textIn(objectIn(error).message) || 'The provider failed.'
    return eventOf({ type: 'error', error: { type: messagesErrorType(objectIn(error)), message } })
  }

  /** Writes nothing from here on: an event that cannot be understood leaves a gap, and the caller must not take the rest for complete. */
  #break(): string {
    this.#state = 'broken'
    return ''
  }
}

function eventOf(event: JsonObject & { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
