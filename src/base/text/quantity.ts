// Quantities as people write them: "30s", "10MiB", "off".

/** The value, or the broken rule as a phrase that follows the name of a field: "must be …". */
export type Reading<T> = { readonly value: T } | { readonly flaw: string }

/** Ms; "off" is 0. */
export function parseDuration(text: string): Reading<number> {
  if (text === 'off') return { value: 0 }
  return read(text, durationUnits, 'must be a whole number with a unit (ms, s, m, h, d), such as 30s')
}

/** In the largest unit that divides the whole ms. */
export function formatDuration(ms: number): string {
  return ms === 0 ? 'off' : format(ms, durationUnits)
}

/** Bytes; kB, MB and GB are decimal. */
export function parseSize(text: string): Reading<number> {
  return read(
    text,
    sizeUnits,
    'must be a whole number with a unit (B, KiB, MiB, GiB, TiB, kB, MB, GB), such as 10MiB',
  )
}

export function parseByteRate(text: string): Reading<number> {
  const size = text.endsWith('/s') ? parseSize(text.slice(0, -2)) : noByteRate
  return 'flaw' in size ? noByteRate : size
}

const noByteRate = { flaw: 'must be a size per second, such as 500B/s' }

/** In the largest binary unit that divides the whole bytes. */
export function formatSize(bytes: number): string {
  return format(bytes, binaryUnits)
}

/** So many times in each period, in ms. */
export interface Rate {
  readonly limit: number
  readonly period: number
}

/** A count and a duration, whose number is 1 if left out; a minute is also written min. */
export function parseRate(text: string): Reading<Rate> {
  const [, count = '', number = '', unit = ''] = /^(\d{1,15})\/(\d*)([a-z]+)$/.exec(text) ?? []
  const period = parseDuration(`${number || 1}${unit === 'min' ? 'm' : unit}`)
  const flaw = 'must be a whole number per time, such as 10/s, 100/min, 1000/h or 600/10m'
  return 'flaw' in period ? { flaw } : { value: { limit: Number(count), period: period.value } }
}

export function formatRate({ limit, period }: Rate): string {
  return `${limit}/${formatDuration(period).replace(/^1(?=[a-z])/, '')}`
}

type Units = Readonly<Record<string, number>> // ascending

const durationUnits: Units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const binaryUnits: Units = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }
const sizeUnits: Units = { ...binaryUnits, kB: 1e3, MB: 1e6, GB: 1e9 }

function read(text: string, units: Units, flaw: string): Reading<number> {
  const [, count, unit = ''] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? []
  const value = Object.hasOwn(units, unit) ? Number(count) * units[unit]! : Number.NaN
  return Number.isSafeInteger(value) ? { value } : { flaw }
}

function format(value: number, units: Units): string {
  const [unit, factor] = Object.entries(units).findLast(([, factor]) => value % factor === 0)!
  return value === 0 ? `0${Object.keys(units)[0]}` : `${value / factor}${unit}`
}
