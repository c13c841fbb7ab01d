// Log lines for a person at a terminal. Outside input stays on one line and in its field.

import { inspect } from 'node:util'
import { visible, visibleJson } from '../base/text/visible.ts'

/** Formats one line of JSON for people; stacks follow it, indented. */
export function readable(line: string, hasColours: boolean): string {
  const { level, time, pid, msg, ...fields } = JSON.parse(line) as Line
  const paint = hasColours ? coloured : plain
  const words: string[] = []
  const stacks: string[] = []
  for (const [name, value] of Object.entries({ ...fields, pid })) {
    if (value === null || value === undefined) continue
    const stack = stackOf(name, value)
    if (stack === null) words.push(`${paint(`${name}=`, 'gray')}${written(value)}`)
    else stacks.push(stack)
  }
  const [word, colour] = levels[level] ?? levels.info!
  const head = `${paint(timeOf(time), 'gray')} ${paint(word, colour)} ${visible(msg ?? '')}`
  return `${[head, ...words].join(' ')}\n${stacks.join('')}`
}

interface Line {
  readonly level: string | number
  readonly time: string | number
  readonly pid?: number
  readonly msg?: string
  readonly [field: string]: unknown
}

type Colour = 'gray' | 'green' | 'yellow' | 'red'

/** By the names and the numbers of pino; all words have the same length. */
const levels: Readonly<Record<string | number, readonly [word: string, colour: Colour]>> = Object.fromEntries(
  (
    [
      ['debug', 20, 'DEBUG', 'gray'],
      ['info', 30, 'INFO ', 'green'],
      ['warn', 40, 'WARN ', 'yellow'],
      ['error', 50, 'ERROR', 'red'],
      ['fatal', 60, 'FATAL', 'red'],
    ] as const
  ).flatMap(([name, number, word, colour]) => [name, number].map(level => [level, [word, colour]])),
)

function coloured(text: string, colour: Colour): string {
  const [on, off] = inspect.colors[colour]!
  return `\u001b[${on}m${text}\u001b[${off}m`
}

function plain(text: string): string {
  return text
}

function timeOf(time: string | number): string {
  const at = new Date(time)
  const [hours, minutes, seconds] = [at.getHours(), at.getMinutes(), at.getSeconds()].map(part =>
    String(part).padStart(2, '0'),
  )
  return `${hours}:${minutes}:${seconds}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

/** Unquoted if it cannot be mistaken for another field, else quoted. */
function written(value: unknown): string {
  if (typeof value === 'string' && clear.test(value)) return value
  return visibleJson(JSON.stringify(value))
}

/** ASCII without spaces, quotes, the sign behind names, and backslashes. */
const clear = /^[!#-<>-[\]-~]+$/

function stackOf(name: string, value: unknown): string | null {
  const stack = name === 'stack' ? value : (value as { readonly stack?: unknown }).stack
  if (typeof stack !== 'string') return null
  const { code } = value as { readonly code?: unknown }
  const lines = code === undefined ? stack : `${stack}\n(${code})`
  return lines
    .split('\n')
    .map(line => `    ${visible(line)}\n`)
    .join('')
}
