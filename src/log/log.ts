// The log in JSON lines: events of the gateway, and the access log with one line per request.

import { type Level, type Logger, pino } from 'pino'
import { visibleJson } from '../base/text/visible.ts'
import type { StatusClass } from '../metrics/counters/edge-metrics.ts'
import { isoTime, lineHead } from './line-head.ts'

export type { Logger }

type LogSample = Readonly<Record<StatusClass, number>>

export interface LogDestination {
  write(line: string): unknown
  flush?(): void
}

/** The fields of an access log entry: a closed list, so that no header, cookie, query or body can slip in. */
export interface AccessEntry {
  readonly time: number // ms since the epoch, when the request came
  readonly ray: string
  readonly zone: string
  readonly client: string
  readonly method: string
  readonly host: string
  readonly target: string // only its path is written
  readonly version: string
  readonly status: number // 0 when nothing was answered
  readonly error: string | null
  readonly cause: string | null // the code of what failed, such as ECONNREFUSED
  readonly preview: boolean // whether the client asked to see an error, and nothing failed
  readonly bytesIn: number
  readonly bytesOut: number
  /** The coding of a response compressed here, and its bytes before; null for others. */
  readonly compressed: { readonly coding: string; readonly bytesIn: number } | null
  readonly duration: number // ms
  readonly phases: Readonly<Partial<Record<string, number>>> // ms
  readonly origin: string | null
  readonly retries: number
  readonly aborted: boolean
  readonly tls: LoggedTls | null // of the connection to this gateway
}

interface LoggedTls {
  readonly version: string
  readonly cipher: string
  readonly fingerprint: string | null // SHA-256 of the certificate that the client showed, accepted or not
}

const { pid } = process
/** Characters of a text, and of one whose escapes make it longer than two bytes a character. */
const longestText = 1024
const longestEscaped = Math.floor(longestText / 3)

/** Of an error it writes message, code and stack, never the request that it may carry. */
export function createLogger(level: Level, destination: LogDestination, isNumeric = false): Logger {
  const serializers = { err: describeError, cause: describeError }
  const write = (line: string) => {
    destination.write(visibleJson(line))
    destination.flush?.()
  }
  return pino({ level, base: { pid }, serializers, ...(isNumeric ? {} : named) }, { write })
}

const named = {
  formatters: { level: (level: string) => ({ level }) },
  timestamp: () => `,"time":"${isoTime(Date.now())}"`,
}

/** Sampled by status class; a response outside of 100 to 599, and a missing one, is always written. */
export class AccessLog {
  readonly #destination: LogDestination
  readonly #isNumeric: boolean
  #shares: readonly number[]
  readonly #random: () => number

  constructor(
    destination: LogDestination,
    { sample, numeric = false }: { readonly sample: LogSample; readonly numeric?: boolean },
    random: () => number = Math.random,
  ) {
    this.#destination = destination
    this.#isNumeric = numeric
    this.#shares = sharesOf(sample)
    this.#random = random
  }

  resample(sample: LogSample): void {
    this.#shares = sharesOf(sample)
  }

  /** At random; called once for each response, before its entry is made. */
  wants(status: number): boolean {
    const share = this.#shares[(status / 100) | 0] ?? 1
    return share === 1 || this.#random() < share
  }

  write(entry: AccessEntry): void {
    this.#destination.write(accessLine(entry, this.#isNumeric))
  }
}

function sharesOf(sample: LogSample): readonly number[] {
  return [1, sample['1xx'], sample['2xx'], sample['3xx'], sample['4xx'], sample['5xx']]
}

/** Written by hand, since it is on the path of every request. */
function accessLine(e: AccessEntry, isNumeric: boolean): string {
  return (
    `${lineHead('info', Math.trunc(e.time), isNumeric)},"pid":${pid},"ray":"${e.ray}","zone":${quote(e.zone)}` +
    `,"client":${quote(e.client)},"method":${quote(e.method)},"host":${quoteSent(e.host)},"path":${quoteSent(pathOf(e.target))}` +
    `,"version":${quote(e.version)},"status":${e.status},"error":${quote(e.error)},"cause":${quote(e.cause)},"preview":${e.preview},"bytes_in":${e.bytesIn}` +
    `,"bytes_out":${e.bytesOut},"compression":${compressionOf(e)},"duration":${round(e.duration)},"phases":${phasesOf(e)},"origin":${quote(e.origin)}` +
    `,"retries":${e.retries},"aborted":${e.aborted},"tls":${e.tls === null ? 'null' : tlsOf(e.tls)},"msg":"request"}\n`
  )
}

function compressionOf({ compressed }: AccessEntry): string {
  return compressed === null ? 'null' : `{"encoding":"${compressed.coding}","bytes":${compressed.bytesIn}}`
}

function tlsOf({ version, cipher, fingerprint }: LoggedTls): string {
  return `{"version":${quote(version)},"cipher":${quote(cipher)},"client_fingerprint":${quote(fingerprint)}}`
}

function quote(text: string | null): string {
  return JSON.stringify(text !== null && text.length > longestText ? text.slice(0, longestText) : text)
}

/** Quotes a client's bytes: some of those above ASCII control terminals. */
function quoteSent(text: string | null): string {
  const json = quote(text)
  for (let at = 0; at < json.length; at++) if (json.charCodeAt(at) > tilde) return quoteVisibly(text!, json)
  return json
}

/** A line longer than a pipe takes in one piece would mix with those of other processes. */
function quoteVisibly(text: string, json: string): string {
  const shown = visibleJson(json)
  const isLong = Buffer.byteLength(shown) > 2 * longestText
  return isLong ? visibleJson(quote(text.slice(0, longestEscaped))) : shown
}

const tilde = 0x7e

/** Queries, and targets other than paths, may contain user names and passwords. */
function pathOf(target: string): string | null {
  if (target[0] !== '/' && target !== '*') return null
  const end = target.search(/[?#]/)
  return end === -1 ? target : target.slice(0, end)
}

function phasesOf({ phases }: AccessEntry): string {
  let members = ''
  for (const phase in phases) members += `${members && ','}"${phase}":${round(phases[phase]!)}`
  return `{${members}}`
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack } = error
  return { type: name, message, stack, ...('code' in error && { code: error.code }) }
}
