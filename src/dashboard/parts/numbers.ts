// Numbers for people. Creating a format costs a hundred times as much as using it, and tables have many
// numbers: each format is created on first use.

import { memoizeOnce } from '../../base/memo.ts'
import { GiB, KiB, MiB } from '../../base/units.ts'

/** Writes a number with commas between its thousands. */
export function grouped(value: number): string {
  return plain().format(value)
}

/** Writes a count, abbreviated if large, as `12.3K`. */
export function compact(value: number): string {
  return (value < 10_000 ? short() : lettered()).format(value)
}

/** Writes US dollars with the significant digits, as `$1.20`, `$0.50` or `$0.000015`. */
export function dollars(cost: number): string {
  if (cost === 0) return '$0'
  const nanodollars = Math.round(cost * 1e9)
  const isInCents = cost >= 1 || (nanodollars > 0 && nanodollars % 1e7 === 0)
  return `$${(isInCents ? cents() : significant()).format(cost)}`
}

/** Writes a size, as `512 bytes` or `1.5 MiB`. */
export function size(bytes: number): string {
  const [unit, name] = bytes < MiB ? [KiB, 'KiB'] : bytes < GiB ? [MiB, 'MiB'] : [GiB, 'GiB']
  return bytes < KiB ? `${bytes} bytes` : `${(bytes / unit).toFixed(1)} ${name}`
}

const format = (options: Intl.NumberFormatOptions = {}) =>
  memoizeOnce(() => new Intl.NumberFormat('en-US', options))
const plain = format()
const short = format({ maximumFractionDigits: 1 })
const lettered = format({ notation: 'compact', maximumFractionDigits: 1 })
const cents = format({ minimumFractionDigits: 2, maximumFractionDigits: 2 })
const significant = format({ maximumSignificantDigits: 3 })
