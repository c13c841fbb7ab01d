// The usage of a WebSocket session, from the events of its provider: Realtime, and Responses.

import { isObject } from '../../base/text/json.ts'
import { textIn, tokensOfBytes } from './estimate.ts'
import { tokensIn as tokensOfObject } from './usage-member.ts'
import { noTokens, type Usage } from './usage.ts'

/** Responses counted separately; further ones are added to the last. */
const maxResponses = 1000

/** Who hears of each response of a session. */
export interface SessionFollower {
  /** Of the provider: who opens a session by a secret may have chosen them before. */
  settingsSaid(settings: object): void
  responseBegan(): void
  /** Null if the provider does not say what it used; one that failed may have used nothing. */
  responseEnded(usage: Usage | null, hasFailed: boolean): void
}

export class SessionUsage {
  model: string | null = null
  follower: SessionFollower | null = null
  readonly #responses: Usage[] = []
  /** Bytes of text of a response that has not ended. */
  #open = 0

  get responses(): readonly Usage[] {
    if (!this.isEstimated) return this.#responses
    return [...this.#responses, { ...noTokens, model: this.model, tokensOut: tokensOfBytes(this.#open) }]
  }

  get isEstimated(): boolean {
    return this.#open > 0
  }

  take(text: string): void {
    const event = parse(text)
    if (!isObject(event)) return
    const { type, session, response } = event
    if (isObject(session)) {
      this.#name(session.model)
      this.follower?.settingsSaid(session)
    }
    if (!isObject(response)) {
      this.#open += textIn(event)
      return
    }
    this.#name(response.model)
    if (type === 'response.created') this.follower?.responseBegan()
    if (typeof type !== 'string' || !ends.has(type)) return
    this.#open = 0
    const usage = this.#usageOf(response)
    if (usage !== null) this.#add(usage)
    this.follower?.responseEnded(usage, response.status === 'failed')
  }

  #usageOf({ usage, service_tier: tier }: Readonly<Record<string, unknown>>): Usage | null {
    const tokens = isObject(usage) ? tokensOfObject(JSON.stringify(usage)) : null
    if (tokens === null) return null
    return { ...tokens, model: this.model, tier: tokens.tier ?? (typeof tier === 'string' ? tier : null) }
  }

  #add(usage: Usage): void {
    const last = this.#responses.at(-1)
    if (last === undefined || this.#responses.length < maxResponses) this.#responses.push(usage)
    else this.#responses[maxResponses - 1] = sumOf([last, usage])
  }

  #name(model: unknown): void {
    if (typeof model === 'string' && model !== '' && model.length <= longestName) this.model = model
  }
}

const longestName = 256

const ends: ReadonlySet<string> = new Set([
  'response.done',
  'response.completed',
  'response.incomplete',
  'response.failed',
])

/** Null counts if no response has any. */
export function sumOf(responses: readonly Usage[]): Usage {
  let sum: Usage = { ...noTokens, model: null }
  for (const one of responses)
    sum = {
      ...one,
      tokensIn: plus(sum.tokensIn, one.tokensIn),
      tokensOut: plus(sum.tokensOut, one.tokensOut),
      cacheRead: sum.cacheRead + one.cacheRead,
      cacheWritten: sum.cacheWritten + one.cacheWritten,
      cacheWrittenLong: sum.cacheWrittenLong + one.cacheWrittenLong,
      audioIn: sum.audioIn + one.audioIn,
      audioOut: sum.audioOut + one.audioOut,
      searches: sum.searches + one.searches,
      cost: plus(sum.cost, one.cost),
    }
  return sum
}

function plus(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : one + other
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
