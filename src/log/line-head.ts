// The head of log lines: level and time, as names and ISO 8601, or as pino's numbers.

/** The numbers of pino for levels. */
const numbers = { info: 30, warn: 40 } as const

/** `time` is in ms since the epoch. */
export function lineHead(level: keyof typeof numbers, time: number, isNumeric: boolean): string {
  return isNumeric
    ? `{"level":${numbers[level]},"time":${time}`
    : `{"level":"${level}","time":"${isoTime(time)}"`
}

/** Formatting is cached for the second written last. */
let second = Number.NaN
let beginning = ''
const ends = Array.from({ length: 1000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`)

/** UTC; the common prefix of a second's times is formatted once. */
export function isoTime(time: number): string {
  const whole = Math.floor(time / 1000)
  if (whole !== second) {
    second = whole
    beginning = new Date(whole * 1000).toISOString().slice(0, -4)
  }
  return beginning + ends[time - whole * 1000]!
}
