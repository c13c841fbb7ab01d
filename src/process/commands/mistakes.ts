// Prints all mistakes of a configuration, each with its position.

import type { Loaded } from '../../config/file/load.ts'
import { formatMistake } from '../../config/file/mistake.ts'
import { tell } from './terminal.ts'

/** Whether the configuration can be used, after printing its mistakes and warnings to stderr. */
export function isUsable(path: string, loaded: Loaded): loaded is Exclude<Loaded, { mistakes: unknown }> {
  const findings = 'mistakes' in loaded ? loaded.mistakes : loaded.warnings
  for (const finding of findings) tell(formatMistake(path, finding))
  return !('mistakes' in loaded)
}
