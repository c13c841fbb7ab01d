// Reserves for an attempt of an AI call; a model of its route that does not fit gives way to the next one.

import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { findFallback, takeAttempt } from '../ai/next-attempt.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import { isMetered } from '../ai/open-log.ts'
import { reserveFor } from './reserve.ts'

/** Reserves for the first attempt of a call that spend limits govern. */
export function reserve(x: Exchange): Verdict {
  const { ai } = x
  if (ai === null || ai.provider === null || x.tap === null || !isMetered(x, ai)) return null
  return reserveAttempt(x, ai)
}

/** Passes over models that do not fit; refuses as the last of them does. */
export function reserveAttempt(x: Exchange, ai: AiExchange): Verdict {
  const verdict = reserveFor(x, ai)
  return verdict instanceof Promise ? verdict.then(verdict => goOn(x, ai, verdict)) : goOn(x, ai, verdict)
}

function goOn(x: Exchange, ai: AiExchange, refusal: Refusal | null): Verdict {
  if (refusal === null || x.stage !== 'none' || ai.course === null) return refusal
  const choice = findFallback(x, ai, ai.course)
  if (choice === null) return refusal
  takeAttempt(x, ai, ai.course, { type: 'next', choice })
  return reserveAttempt(x, ai)
}
