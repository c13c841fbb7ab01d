// All that the response to an AI call depends on, as the key under which it is reused.

import type { KeyPart } from '../../answers/answer-key.ts'
import type { AnswerCache } from '../../answers/answer-cache.ts'
import { membersOf, textAt } from '../../base/json/members.ts'
import { memoizeEach } from '../../base/memo.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { linesOfCaller, type ProviderLines } from '../ai-call/outbound-call.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { scopeOf } from './scope.ts'

/** The plan must be made, and its body whole. */
export function keyOfCall(x: Exchange, ai: AiExchange, cache: Pick<AnswerCache, 'keyOf'>): string {
  const { account, id, createdAt, modifiedAt, isCacheInvalidatedOnUpdate, guard, answersSince } = ai.gateway!
  const { target, body, received } = ai
  const { key: ownKey } = ai.cacheControls!
  const provider = ai.provider!
  const parts: KeyPart[] = [
    ...[account, id, String(createdAt), isCacheInvalidatedOnUpdate === true ? String(modifiedAt) : null],
    answersSince === undefined ? null : String(answersSince),
    // What a guard would look for now.
    guard == null ? null : JSON.stringify(guard),
    ...scopeOf(ai, ownKey !== null),
    ...[target.api, target.api === 'native' ? null : target.operation, ai.isRouted ? 'routed' : null],
    ...[provider.name, provider.base.href, ai.path, ai.model],
    keyedLines(linesOf(x, ai)),
    ownKey,
  ]
  if (ownKey === null)
    return cache.keyOf(parts, received === null || received === body ? [body!] : [received, body!])
  return cache.keyOf([...parts, ...formOf(body!)], [])
}

/** Whether the caller signs the call, so that no other one can equal it. */
export function isSigned(x: Exchange, ai: AiExchange): boolean {
  return ai.provider!.isSigned && linesOf(x, ai).credential !== ''
}

/** What the caller brings to authenticate at the provider; null for a signature, which differs each time. */
export function ownCredential(x: Exchange, ai: AiExchange): string | null {
  return ai.provider!.isSigned ? null : linesOf(x, ai).credential
}

function linesOf(x: Exchange, ai: AiExchange): ProviderLines {
  return linesOfCaller(x.head, ai, x.client.last, x.snapshot.tracing !== null)
}

/** The model, and whether the response is a stream: a key of the caller stands for neither. */
function formOf(body: Buffer): readonly KeyPart[] {
  const members = membersOf(body)
  const stream = members.findLast(({ name }) => name === 'stream')
  const model = members.findLast(({ name }) => name === 'model')
  return [
    stream === undefined ? null : body.toString('latin1', stream.start, stream.end),
    model === undefined ? null : textAt(body, model),
  ]
}

/** The lines that may change a response, by their names. */
const keyedLines = memoizeEach(({ forwarded, credential, defaults }: ProviderLines) => {
  const lines: [name: string, value: string][] = []
  for (const line of (forwarded + credential + defaults).split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (line !== '' && !withoutEffect.test(name)) lines.push([name, line.slice(colon)])
  }
  // Values of one name keep their order.
  lines.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
  return lines.map(line => line.join('')).join('\r\n')
})

/** They say who calls, which call it is and how it came here, and change no response. */
const withoutEffect =
  /^(?:user-agent|x-stainless-.*|traceparent|tracestate|baggage|b3|x-b3-.*|sentry-trace|x-(?:amzn-)?(?:client-)?(?:request|correlation|trace)-id|x-cloud-trace-context|(?:x-)?idempotency-key|cache-control|pragma|priority|sec-.*|dnt|date)$/
