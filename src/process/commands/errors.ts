// `gatehouse errors`: shows the client's view of an error, without a gateway.

import { nextRay } from '../../base/ids/ray.ts'
import { didYouMean } from '../../base/text/nearest.ts'
import {
  type ErrorRow,
  errorRows,
  isRaised,
  previews,
  protocolErrors,
} from '../../errors/catalogue/catalogue.ts'
import { compose } from '../../errors/audience/people.ts'
import { errorNameOf, refuse } from '../../errors/catalogue/refusal.ts'
import type { Input } from './input.ts'
import { json } from '../terminal/format.ts'
import { complain, print, tell } from '../terminal/output.ts'

export function errors({ args: [code], accept, json: asJson }: Input): number {
  if (asJson && accept !== undefined) return complain('--json cannot be combined with --accept')
  if (code === undefined) {
    print(asJson ? json(Object.entries(errorRows).map(([name, row]) => facts(name, row))) : list())
    return 0
  }
  const name = errorNameOf(code)
  if (name === null)
    return complain(`unknown error ${code}${didYouMean(code, Object.keys(errorRows)) || seeList}`)
  print(asJson ? json(facts(name, errorRows[name])) : bodyOf(name, accept))
  if (!asJson && !isRaised(name)) tell(`gatehouse: ${notRaised}`)
  return 0
}

const seeList = '; gatehouse errors lists them all'

function bodyOf(name: Parameters<typeof refuse>[0], accept = 'text/markdown'): string {
  const { body } = compose(
    refuse(name),
    { ray: nextRay(), zone: 'localhost', origin: 'http://localhost', accept, time: Date.now() },
    { documentation: null },
  )
  return body.endsWith('\n') ? body : `${body}\n`
}

function facts(name: string, row: ErrorRow) {
  return {
    error_code: row.code,
    error_name: name,
    error_category: row.category,
    status: row.status,
    title: row.title,
    detail: row.detail,
    retryable: row.retryAfter !== null,
    retry_after: row.retryAfter,
    owner_action_required: row.ownerActionRequired,
    raised: isRaised(name),
    cause: row.cause,
    remedy: row.remedy,
  }
}

function list(): string {
  return `${table(previews)}
Errors that HTTP itself defines, without a preview at /cdn-cgi/error:

${table(protocolErrors)}`
}

function table(rows: Readonly<Record<string, ErrorRow>>): string {
  return [line(head), ...Object.entries(rows).map(([name, row]) => entry(name, row))].join('')
}

function entry(name: string, { code, status, retryAfter, title, detail }: ErrorRow): string {
  const retry = retryAfter === null ? '-' : `${retryAfter} s`
  const what = isRaised(name) ? firstSentence(detail) : `(${notRaised})`
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
