// The response that the gateway itself would send, parsed from its bytes.

import { managedRuleIdOf } from '../../config/model/rule-id.ts'
import type { ExplainedResponse } from '../../zones/explanation.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { factsOf } from '../exchange/facts.ts'
import type { Rehearsed } from './rehearsed.ts'

export function responseOf({ x, client }: Rehearsed): ExplainedResponse {
  const { lines } = client
  const retryAfter = fieldIn(lines, 'retry-after')
  return {
    status: x.status,
    content_type: fieldIn(lines, 'content-type'),
    retry_after: retryAfter === null ? null : Number(retryAfter),
    content: contentOf(x),
  }
}

function fieldIn(lines: string, name: string): string | null {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(lines)?.[1]?.trim() ?? null
}

function contentOf(x: Exchange): ExplainedResponse['content'] {
  if (x.refusal === null || x.audience.kind === 'ai') return null
  const match = (x.zone?.errors ?? x.snapshot.errors).find(x.refusal.error, factsOf(x))
  if (match === null) return null
  const { source, rule, page } = match
  return {
    source,
    rule_id: rule === null ? null : managedRuleIdOf(rule),
    line: rule?.line ?? null,
    page,
    description: rule?.description ?? null,
  }
}
