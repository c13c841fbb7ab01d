// Reuses the response to an earlier AI call for one that equals it, and joins equal calls that are under way.

import type { Answer } from '../../answers/answer.ts'
import type { AnswerCache } from '../../answers/answer-cache.ts'
import type { Flight } from '../../answers/flight.ts'
import { isForItself, isReusableAt } from '../../answers/operations.ts'
import type { BypassReason } from '../../metrics/counters/answer-metrics.ts'
import type { AnswerPlace } from '../../store/answers/answer.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { isMetered } from '../ai/open-log.ts'
import type { Decided, Exchange, Verdict } from '../exchange/exchange.ts'
import { reserveAttempt } from '../meter/reserve-attempt.ts'
import { isSigned, keyOfCall } from './call-key.ts'
import { join, replay } from './playback.ts'

/**
 * Waits for the store, and for the call that it joins. Refuses only a call that goes on by itself after that:
 * its spend limits count it again.
 */
export function recall(x: Exchange): Decided {
  const { ai } = x
  if (ai === null || ai.cacheControls === null || ai.provider === null) return null
  const { answers } = x.plane.ai!
  if (answers === null) return null
  const reason = bypassReason(x, ai, answers)
  if (reason !== null) return bypass(x, reason)
  ai.isReusable = true
  return find(x, ai, answers, placeOf(x, ai, answers))
}

/** Begins to share the call of the next model of its route, which is another one. */
export function shareNext(x: Exchange, ai: AiExchange): void {
  if (!ai.isReusable) return
  ai.flight?.fail(false)
  ai.flight = null
  const answers = x.plane.ai!.answers!
  if (bypassReason(x, ai, answers) !== null) return
  const place = placeOf(x, ai, answers)
  if (answers.flight(place.key) === null) ai.flight = answers.begin(place)
}

function placeOf(x: Exchange, ai: AiExchange, answers: AnswerCache): AnswerPlace {
  const { account, id } = ai.gateway!
  return { account, gateway: id, key: keyOfCall(x, ai, answers) }
}

function bypassReason(x: Exchange, ai: AiExchange, answers: AnswerCache): BypassReason | null {
  const { isSkipped, key } = ai.cacheControls!
  if (isSkipped) return 'skip'
  if (x.head.method !== 'POST' || x.upgrade === 'requested' || !isReusableAt(ai.path)) return 'operation'
  if (ai.body === null || ai.fields.contentEncoding !== null) return 'unreadable'
  const reason = isForItself(ai.path, ai.body)
  if (reason !== null) return reason
  if (key !== null && ai.token === null) return 'no_token'
  if (isSigned(x, ai)) return 'signed'
  if (answers.room.isFull) return 'busy'
  return answers.isReady ? null : 'not_ready'
}

function bypass(x: Exchange, reason: BypassReason): null {
  const { calls, bypassed } = x.plane.metrics.answers
  calls.bypass.inc()
  bypassed[reason].inc()
  x.addedLines += `svc-aig-cache-status: BYPASS; reason=${reason}\r\n`
  return null
}

function find(x: Exchange, ai: AiExchange, answers: AnswerCache, place: AnswerPlace): Decided {
  const { ttl } = ai.cacheControls!
  const opened = answers.inMemory(place, ttl)
  if (opened !== null) return reuse(x, ai, opened)
  const running = answers.flight(place.key)
  if (running !== null) return wait(x, ai, running, () => find(x, ai, answers, place))
  ai.flight = answers.begin(place)
  return answers.inStore(place, ttl).then(answer => {
    if (x.stage !== 'none') return null
    if (answer === null) return miss(x, ai)
    ai.flight!.land(answer)
    ai.flight = null
    return reuse(x, ai, answer)
  })
}

function reuse(x: Exchange, ai: AiExchange, answer: Answer): 'responded' {
  release(ai)
  replay(x, ai, answer)
  return 'responded'
}

/** Waits for a call under way. If it fails for a reason of its own, this call or another one begins anew. */
function wait(x: Exchange, ai: AiExchange, flight: Flight, again: () => Decided): Decided {
  if (!flight.isWhole || (flight.head !== null && !isForOthers(ai, flight.head.status))) return miss(x, ai)
  release(ai)
  return new Promise((resolve, reject) => {
    join(x, ai, flight, {
      accepts: ({ status }) => isForOthers(ai, status),
      responded: () => resolve('responded'),
      goOn: mayJoin => {
        try {
          if (mayJoin) resolve(again())
          else resolve(flight.isHeld && flight.refusal !== null ? flight.refusal : miss(x, ai))
        } catch (bug) {
          reject(bug)
        }
      },
    })
  })
}

/** An error is that of each caller, but for those who have further attempts to make. */
function isForOthers({ course }: AiExchange, status: number): boolean {
  return status === 200 || course === null
}

function miss(x: Exchange, ai: AiExchange): Verdict {
  x.plane.metrics.answers.calls.miss.inc()
  x.addedLines += 'svc-aig-cache-status: MISS\r\n'
  if (ai.budget !== null || x.tap === null || !isMetered(x, ai)) return null
  const { provider, path, body } = ai
  const verdict = reserveAttempt(x, ai)
  const check = (verdict: Awaited<Verdict>) => {
    // It fits at another model only.
    if (ai.provider !== provider || ai.path !== path || ai.body !== body) shareNext(x, ai)
    return verdict
  }
  return verdict instanceof Promise ? verdict.then(check) : check(verdict)
}

/** Nothing is charged for what was paid already. */
function release(ai: AiExchange): void {
  ai.budget?.release()
  ai.budget = null
}
