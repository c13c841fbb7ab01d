// What callers of an AI route learn about a call: the models that were tried, and where to find the log.

import { writeLedger, writeStart } from '../../ai/failover/ledger.ts'
import { ownText } from '../../base/text/own-text.ts'
import { field } from '../../http1/fields/fields.ts'
import type { LedgerAttempt } from '../../store/records/records.ts'
import { HeaderChanges } from '../rewrite/headers.ts'
import type { AiExchange } from './ai-exchange.ts'

/** Empty before the provider is known. `logId` is null if the call is not logged. */
export function evidenceLines(
  { provider, model, course, attempts, dropped }: AiExchange,
  logId: string | null,
): string {
  if (provider === null) return ''
  let lines = logId === null ? '' : `svc-aig-log-id: ${logId}\r\n`
  if (dropped.length > 0) lines += `svc-aig-dropped: ${dropped.join(', ')}\r\n`
  if (attempts.length === 0) return lines
  if (attempts.length === 1 && course === null) return lines + ofSole(model, attempts[0]!)
  lines += `svc-aig-step: ${course === null ? 0 : course.step}\r\nsvc-aig-provider: ${provider.name}\r\n`
  if (model !== null && visible.test(model)) lines += `svc-aig-model: ${model}\r\n`
  return `${lines}svc-aig-attempts: ${writeLedger(attempts)}\r\n`
}

/** Mostly all but the time is the same as for the last call. */
function ofSole(model: string | null, attempt: LedgerAttempt): string {
  const { provider, outcome, duration } = attempt
  if (last.provider !== provider || last.model !== model || last.outcome !== outcome) {
    const modelField = model !== null && visible.test(model) ? `svc-aig-model: ${model}\r\n` : ''
    const start = `svc-aig-step: 0\r\nsvc-aig-provider: ${provider}\r\n${modelField}svc-aig-attempts: ${writeStart(attempt)}`
    last = { provider, model, outcome, start: ownText(start) }
  }
  return `${last.start}${Math.round(duration)}\r\n`
}

let last = { provider: '', model: null as string | null, outcome: '', start: '' }

const visible = /^[!-~]+$/

const ofCors = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-expose-headers',
  'access-control-max-age',
]

/** A provider speaks of its own pages. */
export const withoutCors = new HeaderChanges(new Set(ofCors), [], [])

/** Keeps the provider's SDK from beginning anew what the gateway has tried several times. */
export function withoutRetry(changes: HeaderChanges | null): HeaderChanges {
  return changes === null || changes === finalOnes ? finalOnes : finalWithoutCors
}

const finalOnes = withFinal([])
const finalWithoutCors = withFinal(ofCors)

function withFinal(removed: readonly string[]): HeaderChanges {
  const name = 'x-should-retry'
  return new HeaderChanges(new Set([...removed, name]), [name, 'false'], [field.other])
}
