// `gatehouse log tail`: follows the log of AI calls by polling the API.

import { setTimeout as sleep } from 'node:timers/promises'
import { visible, visibleJson } from '../../../base/text/visible.ts'
import { complain, print, tell } from '../../terminal/output.ts'
import { gatewayIdFlaw, gateways, type ShownGateway } from '../ai-gateway/gateways.ts'
import { type ApiClient, ApiRefusal, isPassing } from '../api/api-client.ts'
import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'

/** Ms between two polls, and the maximum while the gateway does not respond. */
const interval = 1_000
const maxPause = 10_000
const looksPerList = 10
const maxEntries = 100

/** Returns 0 once it is interrupted or its output is closed; 1 if the API is unreachable at first. */
export async function tail(input: Input): Promise<number> {
  const [gateway = null] = input.args
  const flaw = gateway === null ? null : gatewayIdFlaw(gateway)
  const filters = filtersOf(input)
  const last = lastOf(input)
  if (flaw !== null) return complain(flaw)
  if (typeof filters === 'string') return complain(filters)
  if (last === null) return complain(`--last must be a number from 0 to ${maxEntries}`)
  const end = endOfReading()
  return withApi(input, async api => {
    const following = new Following(api, gateway, filters, end)
    const format = input.json ? jsonLine : entryLine
    const show = (entries: readonly GatewayEntry[]) => print(entries.map(format).join(''))
    try {
      const latest = await following.begin(last)
      if (!input.json) print(headLine)
      show(latest)
      await follow(following, show, end)
    } catch (cause) {
      if (!end.aborted) throw cause
    }
    return 0
  })
}

function lastOf({ last = '10' }: Input): number | null {
  return /^\d{1,3}$/.test(last) && Number(last) <= maxEntries ? Number(last) : null
}

function endOfReading(): AbortSignal {
  const end = new AbortController()
  const stop = () => end.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  process.stdout.on('error', stop)
  return end.signal
}

/** While the gateway does not respond, it says so once and retries. */
async function follow(
  following: Following,
  show: (entries: readonly GatewayEntry[]) => void,
  end: AbortSignal,
): Promise<void> {
  let pause = interval
  for (;;) {
    await sleep(pause, undefined, { signal: end })
    try {
      await following.look(show)
      if (pause > interval) tell('gatehouse: connected again')
      pause = interval
    } catch (cause) {
      if (end.aborted || !isPassing(cause)) throw cause
      if (pause === interval) tell(`gatehouse: ${visible(withoutQuestion(cause as Error))}; trying again`)
      pause = Math.min(pause * 2, maxPause)
    }
  }
}

/** The closing question is for people who wait for the command. */
function withoutQuestion({ message }: Error): string {
  return message.replace(/; [^;]*\?$/, '')
}

class Following {
  readonly #api: ApiClient
  readonly #gateway: string | null
  readonly #filters: URLSearchParams
  readonly #end: AbortSignal
  /** The cursor to later entries, by gateway; null before anything was read. */
  readonly #cursors = new Map<string, string | null>()
  #looks = 0

  constructor(api: ApiClient, gateway: string | null, filters: URLSearchParams, end: AbortSignal) {
    this.#api = api
    this.#gateway = gateway
    this.#filters = filters
    this.#end = end
  }

  async begin(maxEntries: number): Promise<readonly GatewayEntry[]> {
    await this.#list()
    const latest: GatewayEntry[] = []
    for (const id of this.#cursors.keys()) latest.push(...(await this.#read(id, Math.max(maxEntries, 1))))
    const inOrder = latest.sort((a, b) =>
      a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0,
    )
    return maxEntries === 0 ? [] : inOrder.slice(-maxEntries)
  }

  async look(show: (entries: readonly GatewayEntry[]) => void): Promise<void> {
    if (++this.#looks % looksPerList === 0) await this.#list()
    for (const id of this.#cursors.keys())
      for (let isMore = true; isMore; ) {
        const before = this.#cursors.get(id)
        const entries = await this.#read(id, maxEntries)
        if (entries.length > 0) show(entries)
        // Even if no entry matched, others may follow.
        isMore = before !== null && this.#cursors.has(id) && this.#cursors.get(id) !== before
      }
  }

  async #list(): Promise<void> {
    const ids =
      this.#gateway === null
        ? (await this.#api.all<ShownGateway>(gateways)).map(({ id }) => id)
        : [this.#gateway]
    for (const id of this.#cursors.keys()) if (!ids.includes(id)) this.#cursors.delete(id)
    for (const id of ids) if (!this.#cursors.has(id)) this.#cursors.set(id, null)
  }

  async #read(gateway: string, maxEntries: number): Promise<readonly GatewayEntry[]> {
    const query = new URLSearchParams(this.#filters)
    query.set('per_page', String(maxEntries))
    const after = this.#cursors.get(gateway) ?? null
    if (after !== null) query.set('cursor', after)
    try {
      const path = `${gateways}/${gateway}/logs/tail?${query}`
      const { result, cursor } = await this.#api.ask<readonly ShownEntry[]>('GET', path, {
        signal: this.#end,
      })
      this.#cursors.set(gateway, cursor)
      return result.map(entry => ({ ...entry, gateway }))
    } catch (cause) {
      // It was deleted since the gateways were listed.
      if (this.#gateway !== null || !(cause instanceof ApiRefusal && cause.isFor('no_such'))) throw cause
      this.#cursors.delete(gateway)
      return []
    }
  }
}

function filtersOf(input: Input): URLSearchParams | string {
  const { failed, provider, model, status, 'token-id': token, where = [] } = input
  const query = new URLSearchParams()
  if (failed) query.set('success', 'false')
  for (const [name, value] of Object.entries({ provider, model, status, token_id: token }))
    if (value !== undefined) query.set(name, value)
  for (const filter of where) {
    const [, key, operator, value] = /^(\S+)\s+(\S+)(?:\s+(.*))?$/s.exec(filter.trim()) ?? []
    if (key === undefined || operator === undefined)
      return "--where must be 'KEY OPERATOR VALUE', such as 'duration gt 5000'"
    query.append('filters.key', key)
    query.append('filters.operator', operator)
    query.append('filters.value', value ?? '')
  }
  return query
}

interface ShownEntry {
  readonly id: string
  readonly created_at: string
  readonly provider: string
  readonly model: string | null
  readonly status_code: number | null
  readonly success: boolean
  readonly error: string | null
  readonly duration: number
  readonly tokens_in: number | null
  readonly tokens_out: number | null
  readonly usage_estimated?: boolean
  readonly cost: number | null
  readonly cached: boolean
  readonly saved_cost?: number | null
  readonly token_name: string | null
  readonly user_email?: string
  readonly client_name?: string | null
}

type GatewayEntry = ShownEntry & { readonly gateway: string }

const widths = [24, 12, 6, 9, 32, 13, 10, 0]

const headLine = lineOf(['TIME', 'GATEWAY', 'STATUS', 'DURATION', 'MODEL', 'TOKENS', 'COST', 'CALLER'])

/** The tokens of request and response have a plus between. */
function entryLine(entry: GatewayEntry): string {
  const { created_at, gateway, status_code, duration, provider, model, error } = entry
  const call = [created_at, gateway, String(status_code ?? '-'), `${Math.round(duration)} ms`]
  const what = model === null ? provider : `${provider}/${model}`
  return lineOf([
    ...call,
    what,
    tokensOf(entry),
    costOf(entry),
    `${callerOf(entry)}${error ? `: ${error}` : ''}`,
  ])
}

function jsonLine({ gateway, ...entry }: GatewayEntry): string {
  return `${visibleJson(JSON.stringify({ gateway, ...entry }))}\n`
}

function lineOf(cells: readonly string[]): string {
  const padded = cells.map((cell, i) => visible(cell).padEnd(widths[i]!))
  return `${padded.join('  ').trimEnd()}\n`
}

function tokensOf({ tokens_in: sent, tokens_out: got, usage_estimated: isEstimated }: ShownEntry): string {
  if (sent === null && got === null) return '-'
  return `${isEstimated ? '~' : ''}${sent ?? 0}+${got ?? 0}`
}

/** In parentheses, what a reused response saved. */
function costOf({ cost, cached, saved_cost: saved }: ShownEntry): string {
  if (cached) return saved == null ? 'reused' : `(${dollars(saved)})`
  return cost === null ? '-' : dollars(cost)
}

function dollars(amount: number): string {
  return `$${Number(amount.toPrecision(4))}`
}

function callerOf({ token_name, user_email, client_name }: ShownEntry): string {
  if (user_email !== undefined) return client_name ? `${user_email} by ${client_name}` : user_email
  return token_name ?? '-'
}
