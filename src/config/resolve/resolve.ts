// From the settings of the file to the configuration: applies defaults, resolves names, and checks rules that
// involve several settings.

import { maxWork } from '../../expression/work-budget.ts'
import { resolveAccess } from '../settings/access-settings.ts'
import type { Config, SecretsConfig, StoreConfig } from '../model/config.ts'
import { resolveCustomErrors } from '../settings/custom-errors-settings.ts'
import { resolveRateLimits } from '../settings/limit-settings.ts'
import type { Findings } from '../file/mistake.ts'
import { camel } from '../shape/camel.ts'
import { isLoopback } from '../shape/host-rules.ts'
import { resolveOAuth, resolvePeople, resolveScopes } from '../settings/oauth-settings.ts'
import { resolveListeners } from './listeners.ts'
import { resolveAcme } from './resolve-acme.ts'
import { resolveServerTls, warnOfUncovered } from './server-tls.ts'
import { resolvePools } from '../settings/pool-settings.ts'
import { publish } from './publish.ts'
import { resolveAi } from './resolve-ai.ts'
import { resolveZones } from './resolve-zones.ts'
import { dataFor, resolveLists } from '../settings/rule-data.ts'
import { WorkSum } from '../shape/rule-cost.ts'
import type { Settings } from '../settings/schema.ts'
import { resolveTelemetry } from '../settings/telemetry-settings.ts'
import { warnOfSharedHosts } from './shared-hosts.ts'
import { warn } from './warn.ts'

/** Returns the configuration from its settings; valid only if no mistake was recorded, here or before. */
export function resolve(settings: Settings, findings: Findings): Config {
  const { log, errors } = settings
  const { body: _, ...limits } = settings.limits
  const data = dataFor(settings, findings)
  // In the order in which a request meets the rules: those of all zones first.
  const rules = new WorkSum(maxWork.rules.file, findings)
  const ofErrors = new WorkSum(maxWork.errors.file, findings)
  warn(settings, findings)
  warnOfSharedHosts(settings, findings)
  const custom = resolveCustomErrors(errors, data, findings, ofErrors)
  const access = resolveAccess(settings.access, data, findings, rules)
  const rateLimits = resolveRateLimits(settings.rate_limits, data, findings, rules)
  const operator = custom.operator ?? null
  const ofAll = { rules, errors: ofErrors, operator }
  const named = { data, pools: resolvePools(settings.pools, findings) }
  const zones = publish(resolveZones(settings, named, findings, ofAll), settings, findings, operator)
  const tls = resolveServerTls(settings, findings)
  const acme = resolveAcme(settings, zones, tls.certificates, findings)
  warnOfUncovered(settings, { tls, acme }, findings)
  return {
    name: settings.name,
    workers: settings.workers,
    listen: resolveListeners(settings, findings),
    tls,
    publicPort: settings.tls.public_port,
    acme,
    fips: settings.tls.fips,
    admin: settings.admin.value,
    errors: { ...custom, documentation: errors.documentation, previews: errors.previews },
    proxyStatus: settings.proxy_status,
    serverTiming: settings.server_timing,
    access,
    rateLimits,
    lists: resolveLists(settings.lists),
    geo: settings.geo,
    trustedProxies: settings.trusted_proxies.map(({ value }) => value),
    clientAddress: settings.client_address,
    limits: { ...camel(limits), url: resolveUrlLimit(settings.limits, findings) },
    client: camel(settings.client),
    http2: camel(settings.http2),
    log,
    telemetry: resolveTelemetry(settings.telemetry, findings),
    shutdown: { grace: settings.shutdown.grace, webSocketClose: settings.shutdown.websocket_close },
    store: resolveStore(settings, findings),
    secrets: resolveSecrets(settings.secrets),
    domains: settings.domains,
    management: resolveManagement(settings),
    oauth: resolveOAuth(settings.oauth, findings),
    scopes: resolveScopes(settings.scopes),
    people: resolvePeople(settings.people, findings),
    ai: resolveAi(settings.ai, findings),
    dashboard: { host: settings.dashboard.host?.value ?? null },
    zones,
  }
}

function resolveUrlLimit({ url, header_section: maxSize }: Settings['limits'], findings: Findings): number {
  const isWritten = url.line > 0
  if (isWritten && url.value > maxSize) {
    findings.flaw(url, 'must not be larger than header_section, which includes the url')
  }
  return Math.min(url.value, maxSize)
}

function resolveStore({ store, workers }: Settings, findings: Findings): StoreConfig {
  if (store.url.value === 'sqlite::memory:' && workers !== 0) {
    findings.flaw(
      store.url,
      'keeps data in the memory of one process, which workers cannot share: set workers to 0',
    )
  }
  refuseIdle(store, findings)
  const { url, ca, sentinel_username: username, sentinel_password: password, ...times } = store
  const credentials = { sentinelUsername: username.value, sentinelPassword: password.value }
  return { url: url.value, ca: ca.value, ...credentials, ...camel(times) }
}

/** Refuses settings that the URL makes useless: the connection is less protected than it seems. */
function refuseIdle({ url, ...store }: Settings['store'], findings: Findings): void {
  const { ca, sentinel_username: username, sentinel_password: password } = store
  if (ca.value !== null && !/^rediss[:+]/.test(url.value ?? '')) {
    findings.flaw(ca, 'is only allowed with a rediss: url')
  }
  for (const one of [username, password]) {
    if (one.value !== null && !/^rediss?\+sentinel:/.test(url.value ?? '')) {
      findings.flaw(one, 'is only allowed with a redis+sentinel: url')
    }
  }
  if (username.value !== null && password.value === null) {
    findings.flaw(username, 'requires a sentinel_password')
  }
}

function resolveSecrets({ key, old_keys }: Settings['secrets']): SecretsConfig {
  return { key, oldKeys: old_keys.flatMap(old => old ?? []) }
}

function resolveManagement({ admin, management }: Settings): Config['management'] {
  const { writes, metrics, audit } = management
  const readers = metrics ?? (isLoopback(admin.value.host) ? 'direct' : 'token')
  return { writes, metrics: readers, audit: camel(audit) }
}
