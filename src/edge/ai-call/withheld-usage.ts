// Removes the usage chunk from a chat stream if only the gateway asked for it.

import { eventsIn } from './complete-events.ts'

/** Leaves usage out of complete events; null if nothing else is left. */
export function withoutUsage(events: Buffer): Buffer | null {
  if (!events.includes(usageMark)) return events
  const remaining = eventsIn(events).filter(event => !isUsageAlone(event))
  return remaining.length === 0 ? null : Buffer.concat(remaining)
}

/** Occurs in every usage event, and never in text, where quotes are escaped. */
const usageMark = '"prompt_tokens"'

function isUsageAlone(event: Buffer): boolean {
  if (!event.includes(usageMark)) return false
  const data = event
    .toString()
    .split(/\r\n|\n|\r/)
    .flatMap(line => (line.startsWith('data:') ? [line.slice(5)] : []))
  try {
    const { choices, usage } = JSON.parse(data.join('\n'))
    return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null
  } catch {
    return false
  }
}
