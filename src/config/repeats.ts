// What must stand once and stands twice. Called by resolve.
import type { Findings } from './mistake.ts'
import type { Placed } from './shape.ts'

/** Notes a mistake at each value that an earlier one has already; the rule says why it cannot. */
export function refuseRepeats(items: Iterable<Placed<string>>, rule: string, findings: Findings): void {
  const seen = new Map<string, Placed<string>>()
  for (const item of items) {
    const first = seen.get(item.value)
    if (first === undefined) seen.set(item.value, item)
    else if (!findings.concern(item.path)) findings.flaw(item, `repeats ${whereabouts(first)}; ${rule}`)
  }
}

function whereabouts({ path, line }: Placed<string>): string {
  return line === 0 ? `the default of ${path}` : `${path} of line ${line}`
}
