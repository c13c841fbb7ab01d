// Reloads the configuration of a running gateway: it is validated and applied as a whole, or rejected with every reason in the log.

import type { Logger } from '../../log/log.ts'
import { type Changes, changesBetween } from '../../config/load/changes.ts'
import type { Loaded } from '../../config/load/load.ts'
import { formatMistake } from '../../config/file/mistake.ts'
import type { Assembly } from './assemble.ts'
import type { Gateway } from './gateway.ts'
import { restartOnlyIn } from './restart-only.ts'

/** Applies what was loaded, and resolves with what that changed; or with the reasons why not: an invalid configuration changes nothing. */
export async function reload(loaded: Loaded, { gateway, metrics, log }: Assembly): Promise<string | Changes> {
  const before = gateway.config
  const reasons = await attempt(loaded, gateway)
  for (const reason of reasons) log.error({ reason }, 'configuration reload failed, keeping the previous one')
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
  const changed = restartOnlyIn(changesBetween(gateway.config, loaded.config))
  if (changed.length > 0) return [`restart required to change ${changed.join(', ')}: run gatehouse upgrade`]
  try {
    await gateway.reload(loaded.config)
    return []
  } catch (cause) {
    return [(cause as Error).message]
  }
}
