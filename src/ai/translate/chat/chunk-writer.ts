// Writes the chunks of a chat completion.

import type { JsonObject } from '../json.ts'
import { type ChatUsage, chatErrorOf } from '../outcome.ts'

/** How the caller wants its chunks: the older shape of calls has room for one. */
export interface ChunkOptions {
  readonly withUsage: boolean
  /** In ms since the epoch. */
  readonly now: number
  readonly asFunction?: boolean
}

export class ChunkWriter {
  readonly #withUsage: boolean
  readonly #asFunction: boolean
  readonly #created: number
  /** The calls of custom tools, whose input is a text. */
  readonly #custom = new Set<number>()
  id = ''
  model = ''
  serviceTier: { readonly service_tier?: string } = {}

  constructor({ withUsage, now, asFunction = false }: ChunkOptions) {
    this.#withUsage = withUsage
    this.#asFunction = asFunction
    this.#created = createdAt(now)
  }

  start(): string {
    return this.chunk({ role: 'assistant', content: '', refusal: null })
  }

  chunk(delta: JsonObject, finish_reason: string | null = null): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }]
    return eventOf({ ...this.#head(), choices, ...(this.#withUsage ? { usage: null } : {}) })
  }

  /** Null for a second call in the older shape. */
  call(index: number, id: string, name: string, isCustom = false): string | null {
    if (isCustom) {
      this.#custom.add(index)
      return this.chunk({ tool_calls: [{ index, id, type: 'custom', custom: { name, input: '' } }] })
    }
    if (!this.#asFunction)
      return this.chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
    return index > 0 ? null : this.chunk({ function_call: { name, arguments: '' } })
  }

  /** Adds to the arguments of a call, or to the input of a custom tool. */
  arguments(index: number, json: string): string {
    if (json === '') return ''
    if (this.#custom.has(index)) return this.chunk({ tool_calls: [{ index, custom: { input: json } }] })
    const piece = { arguments: json }
    return this.chunk(
      this.#asFunction ? { function_call: piece } : { tool_calls: [{ index, function: piece }] },
    )
  }

  end(usage: ChatUsage): string {
    const last = this.#withUsage && usage ? eventOf({ ...this.#head(), choices: [], usage }) : ''
    return `${last}data: [DONE]\n\n`
  }

  fail(error: JsonObject): string {
    return eventOf({ error: chatErrorOf(error) })
  }

  #head() {
    return {
      id: this.id,
      object: 'chat.completion.chunk',
      created: this.#created,
      model: this.model,
      ...this.serviceTier,
    }
  }
}

export function createdAt(now: number): number {
  return Math.floor(now / 1000)
}

function eventOf(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`
}
