// Prints all mistakes of a configuration, each with its position.

import type { Loaded } from '../../config/load/load.ts'
import { formatMistake } from '../../config/file/mistake.ts'
import { tell } from './output.ts'

/**
 * Whether the configuration can be used, after printing its mistakes to stderr, and its warnings too for
 * commands about the configuration.
 */
export function isUsable(
  path: string,
  loaded: Loaded,
  isAboutIt = false,
): loaded is Exclude<Loaded, { mistakes: unknown }> {
  const warnings = 'warnings' in loaded && isAboutIt ? loaded.warnings : []
  for (const finding of 'mistakes' in loaded ? loaded.mistakes : warnings) tell(formatMistake(path, finding))
  return !('mistakes' in loaded)
}
