// Translates the chunks of a chat completion into events of Responses, one at a time.

import { CallIds, type StreamedCall, StreamedCalls } from '../calls.ts'
import { callsIn, contentText, firstChoice } from '../chat-response-to-messages.ts'
import { type JsonObject, objectIn, readObject, textIn } from '../json.ts'
import { countsOfChat, incompleteReason } from '../outcome.ts'
import { ResponseWriter } from '../responses/response-writer.ts'
import { inputFor, type ToolNames } from '../responses/responses-tools.ts'
import { EventTranslator } from '../translation.ts'
import { type ChatResponseOptions, tierOf } from './chat-response-to-responses.ts'

type WrittenCall = ReturnType<ResponseWriter['call']>

export class ResponseEventsOfChat extends EventTranslator {
  readonly #names: ToolNames
  readonly #now: () => number
  readonly #writer: ResponseWriter
  readonly #calls = new StreamedCalls()
  readonly #ids = new CallIds()
  /** In the order in which they began; null before the name is known. */
  readonly #written = new Map<StreamedCall, WrittenCall | null>()
  #finish = ''
  #usage: JsonObject = {}
  #tier: ReturnType<typeof tierOf> = {}

  constructor({ names, settings, now }: ChatResponseOptions) {
    super()
    this.#names = names
    this.#now = now
    this.#writer = new ResponseWriter(settings, now(), true)
  }

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
    this.#tier = { ...this.#tier, ...tierOf(chunk) }
    const choice = firstChoice(chunk.choices)
    if (!choice) return ''
    if (this.state === 'new') this.#start(chunk)
    return this.#choose(choice)
  }

  #start(chunk: JsonObject): void {
    this.state = 'open'
    this.#writer.start(chunk)
  }

  #choose({ delta, finish_reason }: JsonObject): string {
    const { content, refusal, tool_calls, function_call } = objectIn(delta)
    this.#finish = textIn(finish_reason) || this.#finish
    this.#writer.say(contentText(content))
    this.#writer.refuse(textIn(refusal))
    const areCalls = callsIn(tool_calls, function_call).every(piece => this.#call(piece))
    return areCalls ? this.#writer.flush() : this.break()
  }

  #call(piece: JsonObject): boolean {
    let call = this.#calls.continuedBy(piece)
    if (call === undefined) {
      call = this.#calls.begin(piece)
      this.#written.set(call, null)
    }
    if (!call.take(piece)) return false
    this.#write(call)
    return true
  }

  /** Arguments of a function go on at once; a tool that takes no JSON gets its text at the end. */
  #write(call: StreamedCall): void {
    if (call.name === '') return
    const tool = this.#names.toolOf(call.name)
    const written = this.#written.get(call) ?? this.#writer.call(this.#ids.take(call.id), tool)
    this.#written.set(call, written)
    if (tool.type !== 'function' && !call.end.isReached) return
    written.add(tool.type === 'function' ? call.unsent : inputFor(tool, call.unsent))
    call.unsent = ''
    if (call.end.isReached) written.close()
  }

  #complete(): string {
    if (this.state !== 'open') return ''
    // A call without a name cannot be run.
    if ([...this.#written.values()].includes(null)) return this.#writer.flush() + this.break()
    const reason = incompleteReason(this.#finish)
    for (const [call, written] of this.#written) this.#finishCall(call, written!, reason === null)
    this.state = 'complete'
    this.#writer.finish({ reason, counts: countsOfChat(this.#usage), ...this.#tier }, this.#now())
    return this.#writer.flush()
  }

  /** A call that never reached its end: it has no arguments, or was cut. */
  #finishCall(call: StreamedCall, written: WrittenCall, isComplete: boolean): void {
    if (call.end.isReached) return
    const tool = this.#names.toolOf(call.name)
    if (tool.type !== 'function' || !call.end.hasBegun) written.add(inputFor(tool, call.unsent))
    if (isComplete) written.close()
  }

  /** The stream passes a failure of the provider on, so it counts as complete. */
  #fail(error: unknown): string {
    this.state = 'complete'
    this.#writer.fail(error)
    return this.#writer.flush()
  }
}
