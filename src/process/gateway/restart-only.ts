// The settings that only a restart can change: what they decide is opened or bound when the process starts.

import type { Changes } from '../../config/load/changes.ts'

/** By the names that the file has for them. docs/configuration.md and config/gatehouse.yaml list them from here. */
export const restartOnly: readonly string[] = [
  'listen',
  'tls.fips',
  'admin',
  'workers',
  'store',
  'secrets',
  'domains',
  'management',
  'oauth',
  'dashboard',
  'people',
  'errors.documentation',
  'log.access',
  'log.numeric',
  'telemetry.otlp',
]

/** Returns the restart-only settings that are among the changes, or have a setting below them that is. */
export function restartOnlyIn({ changed, added, removed }: Changes): readonly string[] {
  const paths = [...changed, ...added, ...removed]
  return restartOnly.filter(name => paths.some(path => path === name || path.startsWith(`${name}.`)))
}
