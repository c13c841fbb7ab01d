// The settings that only a restart can change: they decide what is opened or bound when the process starts.

import type { Changes } from '../../config/load/changes.ts'

/** By their names in the file. docs/configuration.md and config/gatehouse.yaml list them from here. */
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

export function restartOnlyIn({ changed, added, removed }: Changes): readonly string[] {
  const paths = [...changed, ...added, ...removed]
  return restartOnly.filter(name => paths.some(path => path === name || path.startsWith(`${name}.`)))
}
