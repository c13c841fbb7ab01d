// Numbers as people read them. A format costs a hundred times what it does once it is made, and tables have many numbers.

/** Writes a number with commas between its thousands. */
export function grouped(value: number): string {
  return plain.format(value)
}

/** Writes a count, with a letter where it is large, as `12.3K`. */
export function compact(value: number): string {
  return (value < 10_000 ? short : lettered).format(value)
}

/** Writes US dollars with the digits that count, as `$1.20` or `$0.000015`. */
export function dollars(cost: number): string {
  if (cost === 0) return '$0'
  return `$${(cost >= 1 ? cents : significant).format(cost)}`
}

const plain = new Intl.NumberFormat('en-US')
const short = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })
const lettered = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
const cents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const significant = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })
