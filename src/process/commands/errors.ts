// `gatehouse errors`: shows what a client would get, without a gateway.

import { nextRay } from '../../base/ray.ts'
import { catalogue, type ErrorRow, protocolErrors } from '../../errors/catalogue.ts'
import { compose } from '../../errors/compose.ts'
import { errorNameOf, refuse } from '../../errors/refusal.ts'
import type { Input } from './input.ts'
import { print, tell } from './terminal.ts'

const documentation = 'http://127.0.0.1:8081/errors'

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
    { ray: nextRay(), zone: 'localhost', accept, time: Date.now() },
    { documentation },
  )
  print(body.endsWith('\n') ? body : `${body}\n`)
  return 0
}

function list(): string {
  return `${table(catalogue)}
Errors that HTTP itself defines, without a preview at /cdn-cgi/error:

${table(protocolErrors)}`
}

function table(rows: Readonly<Record<string, ErrorRow>>): string {
  const cells = Object.entries(rows).map(([name, { code, status, retryAfter, title }]) => [
    String(code),
    String(status),
    retryAfter === null ? '-' : `${retryAfter} s`,
    name,
    title,
  ])
  return [head, ...cells].map(line => `${line.map(pad).join('  ').trimEnd()}\n`).join('')
}

const head = ['CODE', 'HTTP', 'RETRY', 'NAME', 'TITLE']

function pad(cell: string, column: number): string {
  return cell.padEnd([4, 4, 5, 32, 0][column]!)
}
