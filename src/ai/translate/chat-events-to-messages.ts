// Translates the chunks of a chat completion into events of Messages, one at a time.

import { CallIds, type StreamedCall, StreamedCalls } from './calls.ts'
import { callsIn, contentText, firstChoice } from './chat-response-to-messages.ts'
import { type JsonObject, objectIn, readObject, textIn } from './json.ts'
import { message, messageEvent, refusalDetails, textBlock, toolUse } from './messages/message-parts.ts'
import { countsOfChat, messagesErrorType, messagesUsage, stopReason } from './outcome.ts'
import { EventTranslator } from './translation.ts'

interface Text {
  readonly kind: 'text'
  unsent: string
}

export class MessageEvents extends EventTranslator {
  /** To be written in order; only the first may be open, since Messages writes one after the other. */
  readonly #blocks: (Text | StreamedCall)[] = []
  readonly #calls = new StreamedCalls()
  readonly #ids = new CallIds()
  #isOpen = false
  #index = 0
  #finish = ''
  #refusal = ''
  #usage: JsonObject = {}

  /** Some providers omit the `[DONE]` after the finish_reason. */
  override end(): string {
    const text = super.end()
    return this.#finish === '' ? text : text + this.#complete()
  }

  protected override isWhole(data: string): boolean {
    return data === '[DONE]' || super.isWhole(data)
  }

  protected take(data: string): string {
    if (data === '[DONE]') return this.#complete()
    const chunk = readObject(data)
    if (!chunk) return this.break()
    if (chunk.error) return this.#fail(chunk.error)
    if (chunk.usage) this.#usage = objectIn(chunk.usage)
    const choice = firstChoice(chunk.choices)
    if (!choice) return ''
    const start = this.state === 'new' ? this.#start(chunk) : ''
    return start + this.#choose(choice)
  }

  #start(chunk: JsonObject): string {
    this.state = 'open'
    return messageEvent({
      type: 'message_start',
      message: message(chunk, countsOfChat(objectIn(chunk.usage)), [], null),
    })
  }

  #choose({ delta, finish_reason }: JsonObject): string {
    const { content, refusal, tool_calls, function_call } = objectIn(delta)
    this.#refusal += textIn(refusal)
    this.#finish = textIn(finish_reason) || this.#finish
    this.#say(contentText(content))
    this.#say(textIn(refusal))
    const areCalls = callsIn(tool_calls, function_call).every(piece => this.#call(piece))
    if (!areCalls) return this.break()
    const text = this.#write(false)
    return this.#blocks.length > 1 && this.#waiting() > maxWaiting ? this.break() : text
  }

  #say(text: string): void {
    if (text === '') return
    const last = this.#blocks.at(-1)
    if (last?.kind === 'text') last.unsent += text
    else this.#blocks.push({ kind: 'text', unsent: text })
  }

  #call(piece: JsonObject): boolean {
    let call = this.#calls.continuedBy(piece)
    if (call === undefined) {
      call = this.#calls.begin(piece)
      this.#blocks.push(call)
    }
    return call.take(piece)
  }

  /**
   * Writes what is available of the first block, and the next ones as each is complete; at the end of the
   * stream, all are.
   */
  #write(isAtEnd: boolean): string {
    let text = ''
    for (let block = this.#blocks[0]; block !== undefined; block = this.#blocks[0]) {
      if (block.kind === 'call' && block.name === '') break
      if (!this.#isOpen) text += this.#open(block)
      text += this.#rest(block)
      const isOver = isAtEnd || (this.#blocks.length > 1 && (block.kind === 'text' || block.end.isReached))
      if (!isOver) break
      text += this.#close()
    }
    return text
  }

  #open(block: Text | StreamedCall): string {
    this.#isOpen = true
    const content_block =
      block.kind === 'text' ? textBlock('') : toolUse(this.#ids.take(block.id), block.name, {})
    return messageEvent({ type: 'content_block_start', index: this.#index, content_block })
  }

  #rest(block: Text | StreamedCall): string {
    const { kind, unsent } = block
    if (unsent === '') return ''
    block.unsent = ''
    const delta =
      kind === 'text'
        ? { type: 'text_delta', text: unsent }
        : { type: 'input_json_delta', partial_json: unsent }
    return messageEvent({ type: 'content_block_delta', index: this.#index, delta })
  }

  #close(): string {
    this.#isOpen = false
    this.#blocks.shift()
    return messageEvent({ type: 'content_block_stop', index: this.#index++ })
  }

  #waiting(): number {
    return this.#blocks.reduce((sum, { unsent }) => sum + unsent.length, 0)
  }

  #complete(): string {
    if (this.state !== 'open') return ''
    const rest = this.#write(true)
    // A call without a name cannot be run.
    if (this.#blocks.length > 0) return rest + this.break()
    this.state = 'complete'
    const ending = { isRefusal: this.#refusal !== '', hasToolUse: !this.#calls.isEmpty }
    const delta = {
      stop_reason: stopReason(this.#finish, ending),
      stop_sequence: null,
      ...refusalDetails(this.#refusal),
    }
    const usage = messagesUsage(countsOfChat(this.#usage))
    return `${rest}${messageEvent({ type: 'message_delta', delta, usage })}${messageEvent({ type: 'message_stop' })}`
  }

  /** The stream passes a failure of the provider on, so it counts as complete. */
  #fail(error: unknown): string {
    this.state = 'complete'
    const message = textIn(error) || textIn(objectIn(error).message) || 'The provider failed.'
    return messageEvent({ type: 'error', error: { type: messagesErrorType(objectIn(error)), message } })
  }
}

/** Characters that wait for blocks before them; far more than any response has. */
const maxWaiting = 16 * 1024 * 1024
