// `gatehouse errors`: shows what a client would get, without a gateway.

import { nextRay } from '../../base/ray.ts'
import { catalogue } from '../../errors/catalogue.ts'
import { compose } from '../../errors/compose.ts'
import { refusalFor } from '../../errors/refusal.ts'
import type { Input } from '../input.ts'
import { print, tell } from '../terminal.ts'

const documentation = 'http://127.0.0.1:8081/errors'

/** Prints one error in the format that `--accept` asks for, Markdown by default since terminals show it well; or the list of all. */
export function errors({ args: [code], accept = 'text/markdown' }: Input): number {
  if (code === undefined) {
    print(list())
    return 0
  }
  const refusal = refusalFor(code)
  if (refusal.error === 'not_found') {
    tell(`gatehouse: there is no error ${code}; gatehouse errors lists them all`)
    return 2
  }
  const { body } = compose(
    refusal,
    { ray: nextRay(), zone: 'localhost', accept, time: Date.now() },
    { documentation },
  )
  print(body.endsWith('\n') ? body : `${body}\n`)
  return 0
}

function list(): string {
  const rows = Object.entries(catalogue).map(([name, { code, status, retryAfter, title }]) =>
    [String(code), String(status), retryAfter === null ? '-' : `${retryAfter} s`, name, title]
      .map(pad)
      .join('  '),
  )
  const head = ['CODE', 'HTTP', 'RETRY', 'NAME', 'TITLE'].map(pad).join('  ')
  return `${[head, ...rows].map(line => line.trimEnd()).join('\n')}\n`
}

function pad(cell: string, column: number): string {
  return cell.padEnd([4, 4, 5, 32, 0][column]!)
}
