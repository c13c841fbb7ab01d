// Makes a call with an Idempotency-Key once: a repetition joins the call, or gets its response.

import type { AnswerCache } from '../../answers/answer-cache.ts'
import {
  type CallOnce,
  type Claimed,
  type ClaimedCalls,
  type EarlierCall,
  lifetime,
  maxClaims,
  maxOfOwner,
  type NoClaim,
} from '../../answers/claimed-calls.ts'
import type { Flight } from '../../answers/flight.ts'
import { fault, refuseCall } from '../../errors/catalogue/api-faults.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { OnceResult } from '../../metrics/counters/answer-metrics.ts'
import { StoreUnreachable } from '../../store/contract/store.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Decided, Exchange, RequestHandler } from '../exchange/exchange.ts'
import { ownCredential } from './call-key.ts'
import { join, replay } from './playback.ts'
import { scopeOf } from './scope.ts'

/** Ms for which a call waits for one in another process, and between two looks at it. */
const maxWait = 20_000
const [firstPause, longestPause] = [50, 1_000]
/** Calls that wait for others at a time; further ones are told to come again. */
const maxWaiting = 1_000
/** Times that a call begins anew, as others that had its key did nothing. */
const maxTurns = 5

let waiting = 0

type Outcome = Refusal | 'responded' | null

/** Refuses a key that stands for another call (422), or for one whose response cannot be given (409, 422). */
export function claim(x: Exchange): Decided {
  const { ai } = x
  if (ai === null || ai.idempotencyKey === null || ai.provider === null) return null
  const { answers, claimed } = x.plane.ai!
  if (answers === null || claimed === null) return null
  if (!answers.isReady) return refused(x, 'unavailable', unavailable)
  return new Repetition(x, ai, answers, claimed).decide()
}

class Repetition {
  readonly #x: Exchange
  readonly #ai: AiExchange
  readonly #answers: AnswerCache
  readonly #claimed: ClaimedCalls
  readonly #call: CallOnce
  #turns = 0

  constructor(x: Exchange, ai: AiExchange, answers: AnswerCache, claimed: ClaimedCalls) {
    this.#x = x
    this.#ai = ai
    this.#answers = answers
    this.#claimed = claimed
    this.#call = callOf(x, ai, answers)
  }

  async decide(): Promise<Outcome> {
    const { place, fingerprint } = this.#call
    while (++this.#turns <= maxTurns && this.#x.stage === 'none') {
      const flight = this.#answers.flight(place.key)
      const outcome = flight === null ? await this.#claim() : await this.#join(flight, fingerprint)
      if (outcome !== 'again') return outcome
    }
    return this.#x.stage === 'none' ? this.#refuse('running', running(this.#call.ray)) : null
  }

  async #claim(): Promise<Outcome | 'again'> {
    const x = this.#x
    let claimed: Claimed
    try {
      claimed = await this.#claimed.claim(this.#call)
    } catch (error) {
      if (error instanceof StoreUnreachable) return this.#refuse('unavailable', unavailable)
      throw error
    }
    if (claimed.kind === 'full') return this.#refuse('full', tooMany(claimed, x.plane.clock.now()))
    if (claimed.kind !== 'held') return this.#follow(claimed)
    // A response that finds no room would be lost for repetitions.
    const { isTight } = this.#answers.room
    if (x.stage !== 'none' || isTight) {
      claimed.end('released')
      return x.stage === 'none' ? this.#refuse('unavailable', unavailable) : null
    }
    this.#count('made')
    this.#ai.claim = claimed
    const flight = this.#answers.begin(this.#call.place)
    flight.isPersistent = true
    flight.fingerprint = this.#call.fingerprint
    flight.ray = x.ray
    flight.answerKey = this.#call.answerPlace.key
    this.#ai.flight = flight
    return null
  }

  /** Replays the response of an earlier call, and waits for it if it is under way elsewhere. */
  async #follow(first: EarlierCall): Promise<Outcome | 'again'> {
    const x = this.#x
    let earlier: EarlierCall | null = first
    if (earlier.kind === 'running' && this.#answers.flight(this.#call.place.key) === null)
      earlier = await this.#wait(earlier)
    if (x.stage !== 'none') return null
    if (earlier === null || (earlier.kind === 'running' && this.#isHere)) return 'again'
    if (earlier.kind === 'running') return this.#refuse('running', running(earlier.ray))
    if (earlier.kind === 'made') return this.#replay(earlier)
    if (earlier.kind === 'other') return this.#refuse('conflict', refuseCall('call_key_used'))
    const code = earlier.kind === 'lost' ? 'call_lost' : 'call_broken'
    return this.#refuse(earlier.kind, refuseCall(code, earlier.ray))
  }

  get #isHere(): boolean {
    return this.#answers.flight(this.#call.place.key) !== null
  }

  async #replay({ ray }: EarlierCall): Promise<Outcome> {
    const { answerPlace: place } = this.#call
    if (this.#answers.room.isFull) return this.#refuse('unavailable', unavailable)
    const seconds = lifetime / 1000
    const answer = this.#answers.inMemory(place, seconds) ?? (await this.#answers.inStore(place, seconds))
    if (this.#x.stage !== 'none') return null
    const { answersSince = -1 } = this.#ai.gateway!
    if (answer === null || answer.storedAt <= answersSince)
      return this.#refuse('gone', refuseCall('call_response_gone', ray))
    this.#count('replayed')
    replay(this.#x, this.#ai, answer)
    return 'responded'
  }

  #join(flight: Flight, fingerprint: string): Promise<Outcome | 'again'> | Refusal {
    if (flight.fingerprint !== fingerprint) return this.#refuse('conflict', refuseCall('call_key_used'))
    if (!flight.isWhole) return this.#refuse('broken', refuseCall('call_broken', flight.ray))
    // The guard that looks at it is not the one of now.
    if (flight.answerKey !== this.#call.answerPlace.key) return this.#refuse('running', running(flight.ray))
    return new Promise(resolve => {
      join(this.#x, this.#ai, flight, {
        accepts: () => true,
        responded: () => {
          this.#count('joined')
          resolve('responded')
        },
        goOn: () =>
          resolve(flight.isOver ? (flight.refusal ?? 'again') : this.#refuse('running', running(flight.ray))),
      })
    })
  }

  /** Waits until a call elsewhere is over, or for as long as a call waits; null if its key is free again. */
  async #wait(first: EarlierCall): Promise<EarlierCall | null> {
    const x = this.#x
    if (waiting >= maxWaiting) return first
    waiting++
    const pausing = new Pausing(x.plane.coarseNow + maxWait)
    x.handler = pausing
    let earlier: EarlierCall | null = first
    try {
      for (let pause = firstPause; earlier?.kind === 'running'; pause = Math.min(2 * pause, longestPause)) {
        await pausing.pause(pause)
        if (pausing.isOver) return earlier
        earlier = await this.#claimed.look(this.#call)
      }
      return earlier
    } catch (error) {
      // It is under way as far as is known.
      if (error instanceof StoreUnreachable) return first
      throw error
    } finally {
      waiting--
      if (x.handler === pausing) x.handler = null
    }
  }

  #refuse(result: OnceResult, refusal: Refusal): Refusal {
    return refused(this.#x, result, refusal)
  }

  #count(result: OnceResult): void {
    this.#x.plane.metrics.answers.once[result].inc()
  }
}

function refused(x: Exchange, result: OnceResult, refusal: Refusal): Refusal {
  x.plane.metrics.answers.once[result].inc()
  return refusal
}

/** The exchange while it waits for one in another process. */
class Pausing implements RequestHandler {
  readonly deadline: number
  isOver = false
  #timer: NodeJS.Timeout | undefined
  #resume: () => void = () => {}

  constructor(deadline: number) {
    this.deadline = deadline
  }

  pause(ms: number): Promise<void> {
    return new Promise(resolve => {
      this.#resume = resolve
      this.#timer = setTimeout(resolve, ms)
    })
  }

  expire(): void {
    this.#end()
  }

  abort(): void {
    this.#end()
  }

  body(): void {}
  flushBody(): void {}
  bodyEnd(): void {}
  clientDrained(): void {}

  #end(): void {
    this.isOver = true
    clearTimeout(this.#timer)
    this.#resume()
  }
}

/** The key stands for the calls of one token, or of one user of an app, alone. */
function callOf(x: Exchange, ai: AiExchange, answers: AnswerCache): CallOnce {
  const { account, id, createdAt, guard } = ai.gateway!
  const whose = ['idempotency-key', account, id, String(createdAt), ...scopeOf(ai, true)]
  const key = answers.keyOf([...whose, ai.idempotencyKey!], [])
  const { contentType, contentEncoding } = ai.fields
  const what = [ai.target.api, x.head.target, contentType, contentEncoding, ownCredential(x, ai)]
  const body = ai.received ?? ai.body ?? none
  const fingerprint = answers.keyOf([...whose, ...what], [body])
  const guarded = answers.keyOf([...whose, 'guard', JSON.stringify(guard ?? null), ai.idempotencyKey!], [])
  const owner = answers.keyOf(['idempotency-key owner', account, ...scopeOf(ai, true)], [])
  const placeOf = (key: string) => ({ account, gateway: id, key })
  return { place: placeOf(key), answerPlace: placeOf(guarded), owner, fingerprint, ray: x.ray }
}

const none = Buffer.alloc(0)

const unavailable = refuse('service_unavailable', {}, { code: 'GH_CLAIM' })

/** The wait may be hours, which no SDK should sit out. */
function tooMany({ of, until }: NoClaim, now: number): Refusal {
  const waiting = { retryAfter: (until - now) / 1000, mayRetry: false }
  return of === 'owner'
    ? refuse('rate_limited', { ...waiting, faults: [fault('too_many_keys_of_token', maxOfOwner)] })
    : refuse('service_unavailable', { ...waiting, faults: [fault('too_many_call_keys', maxClaims)] })
}

function running(ray: string): Refusal {
  return refuse('conflict', { faults: [fault('call_running', ray)] })
}
