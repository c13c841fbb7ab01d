// The destination of a request, and how it would look there.

import type { BalanceConfig } from '../../config/model/pool-config.ts'
import { withoutQuery } from '../../base/path/path.ts'
import { authenticatesConnection } from '../../http1/fields/connection-authentication.ts'
import { certificateFields } from '../../http1/fields/fields.ts'
import { holdsOurs } from '../../tokens/misplaced-tokens.ts'
import type {
  ExplainedField,
  ExplainedForward,
  ExplainedPool,
  ExplainedRoute,
} from '../../zones/explanation.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { bodyLimitOf } from '../steps/bound.ts'
import { factsOf } from '../exchange/facts.ts'
import { outboundHead } from '../forward/outbound-request.ts'
import { redactedPath } from './redact.ts'
import { headText } from '../origin/outbound-head.ts'

export function routeOf(x: Exchange): ExplainedRoute | null {
  if (x.route === null) return null
  const { config, pool } = x.route
  const limit = bodyLimitOf(x)
  return {
    path: config.path,
    line: config.line ?? null,
    pool: config.pool?.name ?? null,
    body_limit: Number.isFinite(limit) ? limit : null,
    redirects: config.redirects,
    timeouts: { ...config.timeouts },
    retries: { most: pool.maxRetries, statuses: [...pool.retryOn] },
  }
}

/** Returns the pool of the route; null for an unnamed one. */
export function poolOf({ route, member }: Exchange): ExplainedPool | null {
  const config = route?.config.pool ?? null
  if (route === null || config === null) return null
  return {
    pool: config.name,
    balance: balanceOf(config.balance),
    origins: route.pool.members.map(origin => ({
      url: origin.target.config.url,
      weight: origin.weight,
      share: origin.share,
      state: origin.health.state,
      outstanding: origin.outstanding,
      is_next: origin === member,
    })),
  }
}

function balanceOf(balance: BalanceConfig): string {
  if (balance.by !== 'hash') return balance.by
  return balance.header === null ? 'hash of the address' : `hash of header ${balance.header}`
}

/** Returns the request as its origin would get it. */
export function forwardOf(x: Exchange): ExplainedForward {
  const { head, ai, route } = x
  const [start = '', ...lines] = headText(outboundHead(x, x.origin!.config.host)).trimEnd().split('\r\n')
  const [method = '', target = ''] = start.split(' ')
  const fields = lines.map(
    line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const,
  )
  const rules = ai === null ? (route!.config.rewrite?.responseHeaders ?? []) : []
  const { url, transport } = x.origin!.config
  return {
    origin: url,
    http: authenticatesConnection(x.outgoing) ? '1' : transport.http,
    method,
    host: fields.find(([name]) => name === 'Host')?.[1] ?? null,
    path: redactedPath(withoutQuery(target)),
    query: queryOf(head.target, target),
    fields: changesIn(x, fields),
    response_fields: rules.map(({ name, value }) => ({ name, change: value === null ? 'removed' : 'set' })),
  }
}

function queryOf(before: string, after: string): ExplainedForward['query'] {
  const query = after.slice(withoutQuery(after).length)
  if (query === '') return 'none'
  return query === before.slice(withoutQuery(before).length) ? 'kept' : 'changed'
}

type Line = readonly [name: string, value: string]

function changesIn(x: Exchange, sent: readonly Line[]): readonly ExplainedField[] {
  const received = valuesOf(x.head.fields)
  const outgoing = Map.groupBy(sent, ([name]) => name.toLowerCase())
  const changed = [...outgoing].flatMap(([key, lines]): ExplainedField[] => {
    const value = lines.map(([, value]) => value).join(', ')
    const before = received.get(key)
    if (before === value || key === 'host') return []
    const change = before === undefined ? 'added' : 'changed'
    return [{ name: lines[0]![0], change, value: isHarmless(x, key, value) ? value : null }]
  })
  const removed = [...received.keys()].filter(key => !outgoing.has(key))
  return [...changed, ...removed.map(name => ({ name, change: 'removed', value: null }) as const)]
}

function valuesOf(fields: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!.toLowerCase()
    const before = values.get(name)
    values.set(name, before === undefined ? fields[i + 1]! : `${before}, ${fields[i + 1]}`)
  }
  return values
}

const hopFields: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'forwarded',
  'via',
  'cdn-loop',
  ...Object.values(certificateFields).map(name => name.toLowerCase()),
])

/** Whether a value is the gateway's own or part of the question. A constant may be a key of the origin. */
function isHarmless(x: Exchange, name: string, value: string): boolean {
  if (holdsOurs(value)) return false
  if (hopFields.has(name)) return true
  const { host, path, ip, country, asn } = factsOf(x).request
  return [x.head.method, host, path, ip, country, String(asn)].includes(value)
}
