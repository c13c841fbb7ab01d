// What callers of an AI route learn about a call: the models that were tried, and where to find the log.

import { writeLedger } from '../../ai/failover/ledger.ts'
import { field } from '../../http1/fields/fields.ts'
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
  lines += `svc-aig-step: ${course === null ? 0 : course.step}\r\nsvc-aig-provider: ${provider.name}\r\n`
  if (model !== null && visible.test(model)) lines += `svc-aig-model: ${model}\r\n`
  return `${lines}svc-aig-attempts: ${writeLedger(attempts)}\r\n`
}

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
