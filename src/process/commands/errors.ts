// `gatehouse errors`: shows what a client would get, without a gateway.

import { nextRay } from '../../base/ray.ts'
import { catalogue, type ErrorRow, errorRows, protocolErrors } from '../../errors/catalogue.ts'
import { compose } from '../../errors/compose.ts'
import { errorNameOf, refuse } from '../../errors/refusal.ts'
import type { Input } from './input.ts'
import { print, tell } from './terminal.ts'

/** Prints one error in the format that `--accept` asks for, Markdown by default since terminals show it well; or the list of all. */
export function errors({ args: [code], accept = 'text/markdown' }: Input): number {
  if (code === undefined) {
    print(list())
    return 0
  }
  const name = errorNameOf(code)
  if (name === null) {
    tell(`gatehouse: unknown error ${code}; gatehouse errors lists them all`)
    return 2
  }
  const { body } = compose(
    refuse(name),
    { ray: nextRay(), zone: 'localhost', origin: 'http://localhost', accept, time: Date.now() },
    { documentation: null },
  )
  print(body.endsWith('\n') ? body : `${body}\n`)
  if (!errorRows[name].raised) tell(`gatehouse: ${notRaised}`)
  return 0
}

function list(): string {
  return `${table(catalogue)}
Errors that HTTP itself defines, without a preview at /cdn-cgi/error:

${table(protocolErrors)}`
}

/** Lists errors with their published titles, and below each what happened where this version raises it. */
function table(rows: Readonly<Record<string, ErrorRow>>): string {
  return [line(head), ...Object.entries(rows).map(([name, row]) => entry(name, row))].join('')
}

function entry(name: string, { code, status, retryAfter, title, raised, detail }: ErrorRow): string {
  const retry = retryAfter === null ? '-' : `${retryAfter} s`
  const what = raised ? firstSentence(detail) : `(${notRaised})`
  return `${line([String(code), String(status), retry, name, title])}      ${what}\n`
}

function line(cells: readonly string[]): string {
  return `${cells.map(pad).join('  ').trimEnd()}\n`
}

function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text
}

const notRaised = 'this version never raises this error; only a preview shows it'

const head = ['CODE', 'HTTP', 'RETRY', 'NAME', 'TITLE']

function pad(cell: string, column: number): string {
  return cell.padEnd([4, 4, 5, 32, 0][column]!)
}
