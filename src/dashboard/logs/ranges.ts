// The time ranges of logs and charts without a date: from now back.

const hour = 3_600_000

/** Their names in addresses, their words, and their lengths in ms. */
export const ranges = {
  '1h': { label: 'Last hour', length: hour },
  '24h': { label: 'Last 24 hours', length: 24 * hour },
  '7d': { label: 'Last 7 days', length: 168 * hour },
  '30d': { label: 'Last 30 days', length: 720 * hour },
} as const

export type RangeName = keyof typeof ranges

export function isRange(name: string | undefined): name is RangeName {
  return name !== undefined && Object.hasOwn(ranges, name)
}
