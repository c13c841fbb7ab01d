// An explanation for people at a terminal.

import {
  type DecidingRule,
  type ExplainedStep,
  type Explanation,
  type LimitState,
  outcomeSentence,
  policyInWords,
} from '../../../zones/explanation.ts'
import { columns } from '../../terminal/format.ts'

export function explanationText(explanation: Explanation): string {
  const { steps, limits } = explanation
  const parts = [
    columns([[outcomeSentence(explanation, 'name', 'give it with --file')]]),
    columns([['STEP', 'VERDICT', 'WHY'], ...steps.map(stepRow)]),
    columns(factsOf(explanation)),
    limits.length === 0 ? '' : columns([limitHead, ...limits.map(limitRow)]),
  ]
  return parts.filter(part => part !== '').join('\n')
}

function stepRow({ number, title, verdict, reason, error, rule, compared }: ExplainedStep): string[] {
  const place = rule === null ? '' : ` (${placeOf(rule)})`
  const met = compared.filter(one => one.with !== null && one.value !== null)
  const comparisons = met.map(({ what, value, with: other }) => `${what} ${value}: ${other}`).join('; ')
  const hasMore = comparisons !== '' && (verdict === 'refuses' || rule !== null)
  const why = `${reason}${error?.message && !reason.includes(error.message) ? ` ${error.message}.` : ''}${place}`
  return [`${number} ${title}`, verdict.replace('_', ' '), hasMore ? `${why} ${comparisons}` : why]
}

function placeOf({ set_by, line, id, description }: DecidingRule): string {
  const where =
    set_by === 'api' ? `API${id === null ? '' : ` ${id}`}` : line === null ? 'file' : `line ${line}`
  return description === null ? where : `${where}: ${description}`
}

function factsOf(explanation: Explanation): string[][] {
  const { zone, client, route, pool, forward, compression, gateway, response } = explanation
  const rows: (readonly [label: string, value: string | number | null | undefined])[] = [
    ['zone', zone],
    ['client', [client.address, client.country, client.asn && `AS${client.asn}`].filter(Boolean).join(', ')],
    ['gateway', gateway?.gateway],
    ['provider', gateway?.provider],
    ['model', gateway?.model],
    ['policy', gateway?.policies && policyInWords(gateway.policies)],
    ...(gateway?.policies?.limits ?? []).map(
      ({ policy, amount, period }) => ['policy limit', `${policy.name}: $${amount} ${period}`] as const,
    ),
    ['route', route && `${route.path}${route.line === null ? '' : ` (line ${route.line})`}`],
    ['redirects followed', route?.redirects],
    ['timeouts', route && timeoutsOf(route.timeouts)],
    ['retries', route && `${route.retries.most}${statusesOf(route.retries.statuses)}`],
    ['pool', pool && `${pool.pool}, ${pool.balance}`],
    ...(pool?.origins ?? []).map(
      ({ url, state, is_next }) => ['origin', `${url} ${state}${is_next ? ', next' : ''}`] as const,
    ),
    ['request line', forward && `${forward.method} ${forward.path ?? ''}${queries[forward.query]}`],
    ['http version', forward?.http],
    ['host sent', forward?.host],
    ...(forward?.fields ?? []).map(
      ({ name, change, value }) => [`field ${change}`, value === null ? name : `${name}: ${value}`] as const,
    ),
    ...(forward?.response_fields ?? []).map(
      ({ name, change }) => [`response field ${change}`, name] as const,
    ),
    ['compression', compression && `${compression.encoding ?? 'none'}: ${compression.reason}`],
    ['compressed types', compression?.condition?.types.join(', ')],
    ['compressed from', compression?.condition && `${compression.condition.minimum} bytes`],
    ['response', response && `${response.status} ${response.content_type ?? ''}`.trim()],
    ['retry after', response?.retry_after == null ? null : `${response.retry_after} s`],
    ['content', response?.content && contentOf(response.content)],
  ]
  return rows.flatMap(([label, value]) => (value == null || value === '' ? [] : [[label, String(value)]]))
}

const queries = { none: '', kept: ' with its query', changed: ' with another query' } as const

function timeoutsOf(timeouts: Readonly<Record<string, number>>): string {
  return Object.entries(timeouts)
    .map(([name, ms]) => `${name} ${ms === 0 ? 'off' : `${ms / 1000} s`}`)
    .join(', ')
}

function statusesOf(statuses: readonly number[]): string {
  return statuses.length === 0 ? '' : `, also for ${statuses.join(', ')}`
}

function contentOf({
  source,
  rule_id,
  line,
  page,
  description,
}: NonNullable<NonNullable<Explanation['response']>['content']>): string {
  const [owner, kind] = source.split('_')
  const which = page ?? rule_id ?? (line === null ? '' : `line ${line}`)
  const named = `${kind} ${which} of ${owner === 'zone' ? 'the zone' : 'all zones'}`
  return description === null ? named : `${named}: ${description}`
}

const limitHead = ['LIMIT', 'KEY', 'USED', 'LEFT', 'RESETS IN', 'VERDICT']

function limitRow({
  name,
  key,
  used,
  left,
  limit,
  period,
  resets_in,
  verdict,
  action,
}: LimitState): string[] {
  const by = key.map(({ by, value }) => (value === null ? by : `${by} ${value}`)).join(', ') || 'all'
  const what = action === 'log' ? `${verdict}, only logged` : verdict
  const [usedOf, rest, wait] = used === null ? ['', '', ''] : [`${used} of `, `${left}`, `${resets_in} s`]
  return [name, by, `${usedOf}${limit} in ${period}`, rest, wait, what]
}
