// How lines of the log begin: with their level and their time, as names and ISO 8601, or as the numbers that pino writes by itself.

/** The numbers that pino has for levels. */
const numbers = { info: 30, warn: 40 } as const

/** Returns the beginning of a line, at ms since the epoch. */
export function lineHead(level: keyof typeof numbers, time: number, isNumeric: boolean): string {
  return isNumeric
    ? `{"level":${numbers[level]},"time":${time}`
    : `{"level":"${level}","time":"${isoTime(time)}"`
}

/** The second that was last written, and how its times begin; how those of all seconds end, by their ms. */
let second = Number.NaN
let beginning = ''
const ends = Array.from({ length: 1000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`)

/** Returns whole ms since the epoch as ISO 8601, in UTC; what a second's times have in common is written once. */
export function isoTime(time: number): string {
  const whole = Math.floor(time / 1000)
  if (whole !== second) {
    second = whole
    beginning = new Date(whole * 1000).toISOString().slice(0, -4)
  }
  return beginning + ends[time - whole * 1000]!
}
