// Prints the mistakes of a configuration.

import type { Loaded } from '../../config/load/load.ts'
import { formatMistake } from '../../config/file/mistake.ts'
import { tell } from './output.ts'

export function isUsable(
  path: string,
  loaded: Loaded,
  isAboutIt = false,
): loaded is Exclude<Loaded, { mistakes: unknown }> {
  const warnings = 'warnings' in loaded && isAboutIt ? loaded.warnings : []
  for (const finding of 'mistakes' in loaded ? loaded.mistakes : warnings) tell(formatMistake(path, finding))
  return !('mistakes' in loaded)
}
