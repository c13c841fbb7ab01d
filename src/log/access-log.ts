// The access log: one JSON line a request.

import { visibleJson } from '../base/text/visible.ts'
import type { StatusClass } from '../metrics/counters/edge-metrics.ts'
import { lineHead } from './line-head.ts'
import type { LogDestination } from './log.ts'

type LogSample = Readonly<Record<StatusClass, number>>

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
  /** The phases, in ms; -1 for one that did not happen. Null if the connection was open. */
  readonly opening: Readonly<Record<'resolve' | 'connect' | 'handshake', number>> | null
  readonly send: number
  readonly wait: number
  readonly receive: number
  readonly origin: string | null
  readonly retries: number
  readonly aborted: boolean
  readonly tls: LoggedTls | null // of the connection to this gateway
  readonly mcp: LoggedMcp | null // what was asked of an MCP server; not written for others
}

interface LoggedTls {
  readonly version: string
  readonly cipher: string
  readonly fingerprint: string | null // SHA-256 of the certificate that the client showed, accepted or not
}

/** Both are null where the request has none. */
interface LoggedMcp {
  readonly method: string | null
  readonly name: string | null
  readonly messages: number
}

const { pid } = process
const [space, quotationMark, numberSign, questionMark, backslash, tilde] = [
  0x20, 0x22, 0x23, 0x3f, 0x5c, 0x7e,
]
/** Characters of a text, and of one whose escapes make it longer than two bytes a character. */
const longestText = 1024
const longestEscaped = Math.floor(longestText / 3)
const longestMcpText = 256

/** Sampled by status class; a response outside of 100 to 599, and a missing one, is always written. */
export class AccessLog {
  readonly #destination: LogDestination
  readonly #isNumeric: boolean
  #shares: readonly number[]
  readonly #random: () => number
  /** The beginning of the lines of a millisecond. */
  #beginning = ''
  #time = Number.NaN

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
    this.#destination.write(this.#beginningAt(Math.trunc(entry.time)) + restOf(entry))
  }

  #beginningAt(time: number): string {
    if (time !== this.#time) {
      this.#time = time
      this.#beginning = `${lineHead('info', time, this.#isNumeric)},"pid":${pid},"ray":"`
    }
    return this.#beginning
  }
}

function sharesOf(sample: LogSample): readonly number[] {
  return [1, sample['1xx'], sample['2xx'], sample['3xx'], sample['4xx'], sample['5xx']]
}

/** From the ray on. Written by hand, since it is on the path of every request: what costs are its pieces. */
function restOf(e: AccessEntry): string {
  return (
    `${e.ray}${senderOf(e)}${paths.quote(pathOf(e.target))}${outcomeOf(e)}${e.bytesOut}` +
    `${compressionOf(e)}${millis(e.duration)},"phases":{${phasesOf(e)}},"origin":${origins.quote(e.origin)}${endingOf(e)}`
  )
}

/** Quotes a member that is often the same as in the line before, and then the same string. */
class Repeated {
  #text = ''
  #json = '""'

  quote(text: string | null): string {
    if (text === null) return 'null'
    if (text !== this.#text) {
      this.#json = quoteSent(text)
      this.#text = text
    }
    return this.#json
  }
}

const zones = new Repeated()
const clients = new Repeated()
const methods = new Repeated()
const hosts = new Repeated()
const paths = new Repeated()
const origins = new Repeated()

/** What requests of a connection share. */
let sender = { zone: '', client: '', method: '', host: '', json: '' }

function senderOf({ zone, client, method, host }: AccessEntry): string {
  const isSame =
    client === sender.client && host === sender.host && method === sender.method && zone === sender.zone
  if (!isSame) {
    const json =
      `","zone":${zones.quote(zone)},"client":${clients.quote(client)},"method":${methods.quote(method)}` +
      `,"host":${hosts.quote(host)},"path":`
    sender = { zone, client, method, host, json }
  }
  return sender.json
}

let success = { version: '', status: 0, json: '' }

/** Most requests have neither an error nor a body. */
function outcomeOf({ version, status, error, cause, preview, bytesIn }: AccessEntry): string {
  if (error !== null || cause !== null || preview || bytesIn !== 0)
    return (
      `,"version":"${version}","status":${status},"error":${quote(error)},"cause":${quote(cause)},"preview":${preview}` +
      `,"bytes_in":${bytesIn},"bytes_out":`
    )
  if (success.version !== version || success.status !== status) {
    const json = `,"version":"${version}","status":${status},"error":null,"cause":null,"preview":false,"bytes_in":0,"bytes_out":`
    success = { version, status, json }
  }
  return success.json
}

function compressionOf({ compressed }: AccessEntry): string {
  return compressed === null
    ? ',"compression":null,"duration":'
    : `,"compression":{"encoding":"${compressed.coding}","bytes":${compressed.bytesIn}},"duration":`
}

function endingOf({ retries, aborted, tls, mcp }: AccessEntry): string {
  if (retries === 0 && !aborted && tls === null && mcp === null)
    return ',"retries":0,"aborted":false,"tls":null,"msg":"request"}\n'
  return `,"retries":${retries},"aborted":${aborted},"tls":${tls === null ? 'null' : tlsOf(tls)}${mcp === null ? '' : mcpOf(mcp)},"msg":"request"}\n`
}

/** Names of tools are short, and a URI is long enough to tell what was asked. */
function mcpOf({ method, name, messages }: LoggedMcp): string {
  return `,"mcp":{"method":${quoteSent(cut(method))},"name":${quoteSent(cut(name))},"messages":${messages}}`
}

function cut(text: string | null): string | null {
  return text === null || text.length <= longestMcpText ? text : text.slice(0, longestMcpText)
}

function tlsOf({ version, cipher, fingerprint }: LoggedTls): string {
  return `{"version":${quote(version)},"cipher":${quote(cipher)},"client_fingerprint":${quote(fingerprint)}}`
}

function quote(text: string | null): string {
  if (text === null) return 'null'
  return JSON.stringify(text.length > longestText ? text.slice(0, longestText) : text)
}

/** Quotes a client's bytes: some of those above ASCII control terminals. */
function quoteSent(text: string | null): string {
  if (text === null) return 'null'
  if (isPlain(text)) return `"${text}"`
  return quoteVisibly(text, quote(text))
}

/** Whether it is printable ASCII that JSON needs no escapes for. */
function isPlain(text: string): boolean {
  if (text.length > longestText) return false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < space || code > tilde || code === quotationMark || code === backslash) return false
  }
  return true
}

/** A line longer than a pipe takes in one piece would mix with those of other processes. */
function quoteVisibly(text: string, json: string): string {
  const shown = visibleJson(json)
  const isLong = Buffer.byteLength(shown) > 2 * longestText
  return isLong ? visibleJson(quote(text.slice(0, longestEscaped))) : shown
}

/** Queries, and targets other than paths, may contain user names and passwords. */
function pathOf(target: string): string | null {
  if (target[0] !== '/' && target !== '*') return null
  for (let at = 0; at < target.length; at++) {
    const code = target.charCodeAt(at)
    if (code === questionMark || code === numberSign) return target.slice(0, at)
  }
  return target
}

function phasesOf({ opening, send, wait, receive }: AccessEntry): string {
  if (opening === null && send < 0 && wait >= 0) return `"wait":${millis(wait)},"receive":${millis(receive)}`
  return Object.entries({ ...opening, send, wait, receive })
    .filter(([, ms]) => ms >= 0)
    .map(([phase, ms]) => `"${phase}":${millis(ms)}`)
    .join(',')
}

const wholes = Array.from({ length: 1000 }, (_, i) => String(i))
const thousandths = wholes.map(text => (text === '0' ? '' : `.${text.padStart(3, '0')}`.replace(/0+$/, '')))

/** Rounds to microseconds. Most are short, and put together from tables: V8 formats fractions slowly. */
function millis(ms: number): string {
  const micros = Math.round(ms * 1000)
  if (!(micros >= 0 && micros < 1e6)) return String(micros / 1000)
  const whole = Math.trunc(micros / 1000)
  return wholes[whole]! + thousandths[micros - whole * 1000]!
}
