// The schema of the configuration file, as data.

import { day, GiB, hour, KiB, MiB, minute, second, TiB } from '../../base/units.ts'
import { access, zoneAccess } from './access-settings.ts'
import { exceptions, proxy } from './proxy-settings.ts'
import {
  corsOrigin,
  modelPattern,
  placeName,
  pricedModel,
  providerKey,
  providerName,
  providerUrl,
  usDollars,
} from './ai-rules.ts'
import { plainApis, providerApis, providerNames, type Timeouts } from '../model/config.ts'
import { previewAudiences } from '../model/custom-errors-config.ts'
import { clouds } from './cloud-settings.ts'
import { compression } from './compression-settings.ts'
import { customErrors } from './custom-errors-settings.ts'
import {
  documentationUrl,
  endpoint,
  exactHost,
  hostHeader,
  hostPattern,
  resolver,
} from '../shape/host-rules.ts'
import { logExport } from './ai/log-export-settings.ts'
import { quota, rate, rateLimits } from './limit-settings.ts'
import { http2, listen, serverTls, zoneTls } from './listen-settings.ts'
import { oauth, people, scopes } from './oauth-settings.ts'
import { mcp } from './mcp/mcp-settings.ts'
import { aliasName, failover, models } from './failover-settings.ts'
import { pools } from './pool-settings.ts'
import { identity, protect } from './protect-settings.ts'
import { priceListFile } from './ai/price-list.ts'
import { rewrite } from './rewrite-settings.ts'
import { ruleData } from './rule-data.ts'
import {
  accountId,
  byteRateOrOff,
  duration,
  durationOrOff,
  fraction,
  network,
  oneOf,
  pseudonym,
  routePath,
  secretKey,
  shortName,
  size,
  truth,
  whole,
  wholeOrOff,
  workerCount,
  zoneName,
} from '../shape/rules.ts'
import {
  dictionary,
  group,
  list,
  mapping,
  oneOrMore,
  optional,
  placed,
  referring,
  required,
  scalar,
  shorthand,
  unwritten,
  unlessGiven,
  type Value,
  wordOr,
} from '../shape/shape.ts'
import { sentinelCredential, storeCa, storeUrl } from './store-url.ts'
import { telemetry } from './telemetry-settings.ts'
import { tls } from './tls-settings.ts'
import { transport } from './transport-settings.ts'

const share = scalar(fraction)

/** The timeouts towards origins, with their defaults. */
function timeouts<T>(defaults: Readonly<Record<keyof Timeouts, T>>) {
  const timeout = (fallback: T) => optional(scalar(durationOrOff(1, day)), fallback)
  const { connect, handshake, response, write, idle, total } = defaults
  return group({
    connect: timeout(connect),
    handshake: timeout(handshake),
    response: timeout(response),
    write: timeout(write),
    idle: timeout(idle),
    total: timeout(total),
  })
}

const usualTimeouts = {
  connect: 19 * second,
  handshake: 10 * second,
  response: 120 * second,
  write: 30 * second,
  idle: 5 * minute,
  total: 0,
}
// null: the timeout of the same name for all routes
const noTimeouts = { connect: null, handshake: null, response: null, write: null, idle: null, total: null }

const route = mapping({
  path: required(placed(scalar(routePath))),
  pool: optional(placed(scalar(shortName)), null),
  host: optional(scalar(hostHeader), 'preserve' as const),
  body: optional(scalar(size(0, TiB)), null), // null: limits.body
  timeouts: timeouts(noTimeouts),
  redirects: optional(scalar(wholeOrOff(1, 20)), 0),
  rate_limits: rateLimits,
  protect: optional(placed(protect), undefined), // undefined: that of the zone
  rewrite: optional(rewrite, null),
  compression: optional(compression, undefined), // undefined: that of the zone
  mcp: optional(placed(mcp), null),
})

const zone = mapping({
  name: optional(placed(scalar(zoneName)), null), // null: its first host
  hosts: optional(list(placed(scalar(hostPattern))), []),
  default: optional(placed(scalar(truth)), null),
  paused: optional(scalar(truth), false),
  account: optional(scalar(accountId), null), // null: the oldest
  access: zoneAccess,
  rate_limits: rateLimits,
  quota,
  tls: zoneTls,
  proxy_status: optional(scalar(truth), null), // null: that of all zones
  server_timing: optional(scalar(truth), null),
  protect: optional(placed(protect), null),
  identity: optional(placed(identity), null),
  compression: optional(compression, null),
  errors: group(customErrors),
  routes: optional(list(placed(route)), []),
})

const store = group({
  url: optional(placed(scalar(storeUrl, { unprinted: true })), unwritten('store.url', null)),
  ca: optional(placed(scalar(storeCa, { unprinted: true })), unwritten('store.ca', null)),
  sentinel_username: optional(
    placed(scalar(sentinelCredential, { unprinted: true })),
    unwritten('store.sentinel_username', null),
  ),
  sentinel_password: optional(
    placed(scalar(sentinelCredential, { unprinted: true })),
    unwritten('store.sentinel_password', null),
  ),
  command_timeout: optional(scalar(duration(10, minute)), 250),
  grace: optional(scalar(durationOrOff(1 * second, day)), 10 * minute),
})

// Unprinted, since a key may have been written in place of the mapping.
const secrets = mapping(
  {
    key: optional(scalar(secretKey, { unprinted: true }), null),
    old_keys: optional(oneOrMore(scalar(secretKey, { unprinted: true })), []),
  },
  { unprinted: true },
)

// Unprinted, since a key may have been written in place of a mapping, or in the query of a URL.
const provider = mapping(
  {
    url: optional(scalar(providerUrl, { unprinted: true }), null), // null: the provider's own
    add_version: optional(placed(scalar(truth)), null),
    keys: optional(referring(oneOrMore(scalar(providerKey, { unprinted: true }))), {
      value: [],
      variables: [],
      sources: [],
    }),
    speaks: optional(placed(scalar(oneOf('openai', 'anthropic'))), null),
    apis: optional(placed(list(scalar(oneOf(...providerApis, ...plainApis)), { min: 1 })), null), // null: depends on speaks
    models: optional(list(scalar(modelPattern), { max: 200 }), null), // null: as is known of it
    resources: optional(placed(list(scalar(placeName))), null),
    stream_usage: optional(placed(scalar(truth)), null),
    proxy: optional(placed(proxy), null), // null: as for all providers
    ...clouds,
    ...transport,
    ...tls,
  },
  { unprinted: true },
)

const price = mapping({
  input: required(scalar(usDollars)),
  output: required(scalar(usDollars)),
  cache_read: optional(scalar(usDollars), null),
  cache_write: optional(scalar(usDollars), null),
  cache_write_1h: optional(scalar(usDollars), null),
})

/** Lists every setting of the file, with its form, its rule and its default. */
export const schema = mapping({
  name: optional(scalar(pseudonym), 'gatehouse'),
  workers: optional(scalar(workerCount), 0),
  listen,
  http2,
  tls: serverTls,
  admin: unlessGiven(
    ['GATEHOUSE_ADMIN'],
    optional(placed(scalar(endpoint)), unwritten('admin', { host: '127.0.0.1', port: 8081 })),
  ),
  trusted_proxies: optional(list(placed(scalar(network))), []),
  client_address: optional(scalar(oneOf('x-forwarded-for', 'forwarded')), 'x-forwarded-for' as const),
  errors: group({
    documentation: optional(scalar(documentationUrl), null),
    previews: optional(scalar(oneOf(...previewAudiences)), 'on' as const),
    ...customErrors,
  }),
  proxy_status: optional(scalar(truth), false),
  server_timing: optional(scalar(truth), false),
  ...ruleData,
  access,
  rate_limits: rateLimits,
  limits: group({
    header_section: optional(scalar(size(1 * KiB, 1 * MiB)), 128 * KiB),
    headers: optional(scalar(whole(16, 1000)), 256),
    url: optional(placed(scalar(size(256, 64 * KiB))), unwritten('limits.url', 16 * KiB)),
    body: optional(scalar(size(0, TiB)), 100 * MiB),
    requests_per_connection: optional(scalar(whole(1, 1e9)), 10_000),
    compression_memory: optional(scalar(size(4 * MiB, TiB)), 128 * MiB),
  }),
  client: group({
    handshake_timeout: optional(scalar(duration(1, hour)), 10 * second),
    header_timeout: optional(scalar(duration(1, hour)), 10 * second),
    body_rate: optional(scalar(byteRateOrOff(1, MiB)), 500),
    body_timeout: optional(scalar(durationOrOff(1, day)), hour),
    response_rate: optional(scalar(byteRateOrOff(1, MiB)), 500),
    connections: optional(scalar(wholeOrOff(1, 1e6)), 10_000),
    connections_per_address: optional(scalar(wholeOrOff(1, 1e6)), 1_000),
    keep_alive: optional(scalar(duration(1, hour)), 75 * second),
  }),
  timeouts: timeouts(usualTimeouts),
  log: group({
    level: optional(scalar(oneOf('debug', 'info', 'warn', 'error')), 'info' as const),
    access: optional(scalar(truth), true),
    numeric: optional(scalar(truth), false),
    sample: group({
      '1xx': optional(share, 1),
      '2xx': optional(share, 1),
      '3xx': optional(share, 1),
      '4xx': optional(share, 1),
      '5xx': optional(share, 1),
    }),
  }),
  telemetry,
  shutdown: group({
    grace: optional(scalar(durationOrOff(1, hour)), 30 * second),
    websocket_close: optional(scalar(durationOrOff(1, hour)), 5 * second),
  }),
  store: optional(shorthand('url', store.shape), store.fallback),
  secrets: optional(secrets, { key: null, old_keys: [] }),
  domains: group({
    resolvers: optional(list(scalar(resolver)), []),
    timeout: optional(scalar(duration(100, 30 * second)), 5 * second),
  }),
  management: group({
    writes: optional(scalar(rate), { limit: 1_200, period: 5 * minute }),
    metrics: optional(scalar(oneOf('open', 'token')), null), // null: depends on the address of the admin listener
    audit: group({
      retention: optional(scalar(duration(day, 3_650 * day)), 400 * day),
      entries_per_token: optional(scalar(whole(1_000, 1e7)), 100_000),
    }),
  }),
  oauth,
  scopes,
  dashboard: group({ host: optional(placed(scalar(exactHost)), null) }), // null: on the side port alone
  people,
  ai: group({
    hosts: optional(list(placed(scalar(exactHost))), []),
    default_account: optional(scalar(accountId), null),
    custom_providers: group({ allow_networks: optional(list(scalar(network)), []) }),
    webhooks: group({ allow_networks: optional(list(scalar(network)), []) }),
    cors: group({ origins: optional(list(placed(scalar(corsOrigin))), []) }),
    body: optional(scalar(size(0, 256 * MiB)), 32 * MiB),
    upload: optional(wordOr('off', scalar(size(0, TiB))), null),
    reuse: group({
      response: optional(placed(scalar(size(KiB, 64 * MiB))), null), // null: 10 MiB
      gateway: optional(placed(scalar(size(MiB, TiB))), null), // null: 256 MiB
      total: optional(placed(scalar(size(MiB, TiB))), null), // null: 1 GiB
      memory: optional(scalar(size(MiB, 4 * GiB)), 32 * MiB),
    }),
    timeouts: timeouts({ ...usualTimeouts, response: 10 * minute, idle: 2 * minute }),
    proxy: unlessGiven(['https_proxy', 'HTTPS_PROXY'], optional(proxy, null)),
    no_proxy: unlessGiven(['no_proxy', 'NO_PROXY'], optional(scalar(exceptions), [])),
    providers: optional(dictionary(providerName(providerNames), placed(provider)), new Map<string, never>()),
    models: optional(dictionary(aliasName(providerNames), models), new Map<string, never>()),
    failover,
    price_list: optional(priceListFile, null),
    log_export: optional(logExport, null),
    prices: optional(dictionary(pricedModel(providerNames), price), new Map<string, never>()),
  }),
  pools,
  zones: required(placed(list(placed(zone)))),
})

/** The content of the file, each value validated on its own, before settings are compared. */
export type Settings = Value<typeof schema>
export type RouteSettings = Value<typeof route>
export type ZoneSettings = Value<typeof zone>
export type ProviderSettings = Value<typeof provider>
