// The settings of pools and their origins.

import { day, hour, second } from '../../base/units.ts'
import type { Reading } from '../../base/text/quantity.ts'
import type { OriginConfig, PoolConfig, TlsIdentity } from '../model/config.ts'
import { exactHost, originUrl } from '../shape/host-rules.ts'
import { type Findings, stepInto } from '../file/mistake.ts'
import {
  type BalanceConfig,
  type CheckConfig,
  type EjectionConfig,
  type TransportConfig,
  usualEjection,
  usualRetries,
  usualTransport,
} from '../model/pool-config.ts'
import {
  accept,
  duration,
  durationOrOff,
  fraction,
  matching,
  oneOf,
  readHeaderKey,
  readWhole,
  shortName,
  statusRange,
  whole,
  within,
} from '../shape/rules.ts'
import {
  dictionary,
  formed,
  group,
  list,
  mapping,
  oneOrMore,
  optional,
  type Placed,
  placed,
  type Rule,
  required,
  scalar,
  shorthand,
  unwritten,
  type Value,
  wordOr,
} from '../shape/shape.ts'
import { identity, resolveIdentity, resolveTls, tls } from './tls-settings.ts'
import { refuseOtherScheme, resolveTransport, transport } from './transport-settings.ts'

const balance: Rule<BalanceConfig> = formed(
  readBalance,
  { words: ['round_robin', 'least_outstanding', 'hash address'], pattern: '^hash +.+$' },
  balance => (balance.by === 'hash' ? `hash ${balance.header ?? 'address'}` : balance.by),
)

function readBalance(text: string): Reading<BalanceConfig> {
  if (text === 'round_robin' || text === 'least_outstanding') return { value: { by: text } }
  const key = /^hash +(.+)$/.exec(text)?.[1] ?? ''
  const header = key === 'address' ? null : readHeaderKey(key)
  return accept(
    header === undefined ? undefined : { by: 'hash', header },
    'must be round_robin, least_outstanding, hash address, or hash header NAME, such as hash header X-User',
  )
}

const checkPath = matching(
  /^\/[!"$-~]*$/,
  'must begin with / and contain only visible ASCII characters, without #',
)

const failureStatus: Rule<number> = formed(
  text => accept(within(readWhole(text), 500, 599), 'must be a status from 500 to 599, such as 503'),
  whole(500, 599).form!,
)

function failureStatuses(name: string) {
  const none: Placed<readonly number[]> = unwritten(name, [])
  return optional(placed(oneOrMore(scalar(failureStatus))), none)
}

const origin = mapping({
  url: required(scalar(originUrl)),
  weight: optional(scalar(whole(1, 1000)), 1),
  ...tls,
})

const retries = mapping({
  most: optional(scalar(whole(0, 10)), usualRetries.most),
  budget: optional(scalar(fraction), usualRetries.budget),
})

const ejection = mapping({
  failures: optional(scalar(whole(1, 1000)), usualEjection.failures),
  base: optional(scalar(duration(100, hour)), usualEjection.base),
  longest: optional(scalar(duration(100, day)), usualEjection.longest),
})

const check = mapping({
  path: required(scalar(checkPath)),
  host: optional(scalar(exactHost), null), // null: that of the url
  interval: optional(scalar(duration(100, hour)), 10 * second),
  timeout: optional(placed(scalar(duration(10, hour))), unwritten('timeout', 2 * second)),
  healthy: optional(scalar(whole(1, 100)), 2),
  unhealthy: optional(scalar(whole(1, 100)), 3),
  status: optional(scalar(statusRange(200, 599, '200-399')), { least: 200, most: 399 }),
})

const someOrigins = list(placed(shorthand('url', origin)), { min: 1 })

/** Reads origins; an empty list is a mistake, a missing value means that there are none yet. */
const origins: typeof someOrigins = {
  read: (tree, context) => (tree.kind === 'empty' ? [] : someOrigins.read(tree, context)),
  form: () => ({ ...someOrigins.form(), type: ['array', 'null'] }),
}

const pool = group({
  origins: optional(origins, []),
  ...identity,
  balance: optional(scalar(balance), { by: 'round_robin' as const }),
  ...transport,
  retries: optional(wordOr('off', retries), usualRetries),
  ejection: optional(wordOr('off', placed(ejection)), unwritten('ejection', usualEjection)),
  retry_on: failureStatuses('retry_on'),
  eject_on: failureStatuses('eject_on'),
  check: optional(wordOr('off', shorthand('path', check)), null),
  slow_start: optional(scalar(durationOrOff(1, hour)), 0),
  dns: group({
    refresh: optional(wordOr('ttl', scalar(duration(1 * second, day))), null), // null: by TTL
    keep: optional(scalar(durationOrOff(1 * second, 7 * day)), usualTransport.dns.keep),
  }),
  addresses: optional(scalar(oneOf('any', 'public')), usualTransport.addresses),
})

export const pools = optional(dictionary(shortName, pool.shape), new Map<string, never>())

type CheckSettings = Value<typeof check>
type PoolSettings = typeof pool.fallback
export type OriginSettings = Value<typeof origin>
export type Pools = ReadonlyMap<string, PoolConfig>

/** Returns the pools by name, including those with mistakes. */
export function resolvePools(pools: ReadonlyMap<string, PoolSettings | null>, findings: Findings): Pools {
  return new Map(
    Array.from(pools, ([name, settings]) => [name, resolvePool(name, settings ?? pool.fallback, findings)]),
  )
}

function resolvePool(name: string, settings: PoolSettings, findings: Findings): PoolConfig {
  const members = settings.origins.filter(({ value }) => value.url !== null)
  const means = {
    transport: resolveMeans(settings, findings),
    identity: resolveIdentity(settings, findings),
  }
  const retries = settings.retries ?? { ...usualRetries, most: 0 }
  return {
    name,
    origins: members.map(origin => resolveOrigin(origin, means, findings)),
    weights: members.map(({ value }) => value.weight),
    balance: settings.balance,
    retries,
    retryOn: resolveStatuses(
      settings.retry_on,
      { needs: 'retries', isOff: retries.most === 0 || retries.budget === 0 },
      findings,
    ),
    ejectOn: resolveStatuses(
      settings.eject_on,
      { needs: 'ejection', isOff: settings.ejection === null },
      findings,
    ),
    ejection: settings.ejection && resolveEjection(settings.ejection, findings),
    check: settings.check && resolveCheck(settings.check, findings),
    slowStart: settings.slow_start,
  }
}

function resolveMeans({ dns, addresses, ...transport }: PoolSettings, findings: Findings): TransportConfig {
  const lookups = { refresh: dns.refresh ?? 0, keep: dns.keep }
  return { ...resolveTransport(transport, findings), dns: lookups, proxy: null, addresses }
}

function resolveOrigin(
  origin: Placed<OriginSettings>,
  { transport, identity }: { readonly transport: TransportConfig; readonly identity: TlsIdentity | null },
  findings: Findings,
): OriginConfig {
  const url = origin.value.url!
  const isPlain = url.protocol === 'http'
  const { http } = transport
  refuseOtherScheme({ http, isPlain }, { ...origin, setting: version => `${version} of its pool` }, findings)
  if (isPlain && identity !== null)
    findings.flaw(origin, 'has an http url, but the certificate and key of its pool require https')
  const tls = resolveTls(origin.value, { ...origin, isPlain }, findings)
  return { ...url, tls: { ...tls, identity }, transport }
}

function resolveStatuses(
  { value, ...place }: Placed<readonly number[]>,
  { needs, isOff }: { readonly needs: string; readonly isOff: boolean },
  findings: Findings,
): readonly number[] {
  if (isOff && value.length > 0) findings.flaw(place, `requires ${needs}, which is off`)
  return value
}

function resolveEjection({ value, ...place }: Placed<EjectionConfig>, findings: Findings): EjectionConfig {
  if (value.longest < value.base)
    findings.flaw({ ...place, path: stepInto(place.path, 'longest') }, 'must not be shorter than base')
  return value
}

function resolveCheck(
  { path, status, timeout, ...rest }: CheckSettings,
  findings: Findings,
): CheckConfig | null {
  if (timeout.line > 0 && timeout.value > rest.interval)
    findings.flaw(timeout, 'must not be longer than interval')
  return path === null ? null : { path, ...rest, timeout: Math.min(timeout.value, rest.interval), ...status }
}
