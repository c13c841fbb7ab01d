// Reloads the configuration of a running gateway: it is validated and applied as a whole, or rejected with every reason in the log.

import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../../log/log.ts'
import { type Changes, changesBetween } from '../../config/load/changes.ts'
import type { Config } from '../../config/model/config.ts'
import type { Loaded } from '../../config/load/load.ts'
import { formatMistake } from '../../config/file/mistake.ts'
import type { Assembly } from './assemble.ts'
import type { Gateway } from './gateway.ts'

/** What is bound when the process starts. */
const bound: Readonly<Record<string, (config: Config) => unknown>> = {
  listen: config => config.listen,
  'tls.fips': config => config.fips,
  admin: config => config.admin,
  workers: config => config.workers,
  store: config => config.store,
  secrets: config => config.secrets,
  domains: config => config.domains,
  management: config => config.management,
  oauth: config => config.oauth,
  dashboard: config => config.dashboard,
  people: config => config.people,
  'errors.documentation': config => config.errors.documentation,
  'log.access': config => config.log.access,
  'log.numeric': config => config.log.numeric,
  'telemetry.otlp': config => config.telemetry.otlp,
}

/** Applies what was loaded, and resolves with what that changed; or with the reasons why not: an invalid configuration changes nothing. */
export async function reload(loaded: Loaded, { gateway, metrics, log }: Assembly): Promise<string | Changes> {
  const before = gateway.config
  const reasons = await attempt(loaded, gateway)
  for (const reason of reasons) log.error({ reason }, 'configuration reload failed')
  if (reasons.length > 0) {
    metrics.reloads.failure.inc()
    return reasons.join('\n')
  }
  metrics.reloads.success.inc()
  logWarnings(loaded, log)
  log.info('configuration reloaded')
  return changesBetween(before, gateway.config)
}

/** Logs what is valid but unwise. */
export function logWarnings(loaded: Loaded, log: Logger): void {
  if ('mistakes' in loaded) return
  for (const warning of loaded.warnings) log.warn(formatMistake(loaded.files[0]!, warning))
}

async function attempt(loaded: Loaded, gateway: Gateway): Promise<readonly string[]> {
  if ('mistakes' in loaded) return loaded.mistakes.map(mistake => formatMistake(loaded.files[0]!, mistake))
  const changed = boundChanges(gateway.config, loaded.config)
  if (changed.length > 0) return [`restart required to change ${changed.join(', ')}: run gatehouse upgrade`]
  try {
    await gateway.reload(loaded.config)
    return []
  } catch (cause) {
    return [(cause as Error).message]
  }
}

/** Returns the settings that differ although they cannot change while the gateway runs. */
function boundChanges(before: Config, after: Config): readonly string[] {
  return Object.keys(bound).filter(name => !isDeepStrictEqual(bound[name]!(before), bound[name]!(after)))
}
