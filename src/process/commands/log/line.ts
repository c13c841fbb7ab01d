// The entry of an AI call as a line for people, and for programs.

import { visible, visibleJson } from '../../../base/text/visible.ts'

export interface ShownEntry {
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
  readonly token_name: string | null
  readonly user_email?: string
  readonly client_name?: string | null
}

export type GatewayEntry = ShownEntry & { readonly gateway: string }

const widths = [24, 12, 6, 9, 32, 13, 10, 0]

export const headLine = lineOf(['TIME', 'GATEWAY', 'STATUS', 'DURATION', 'MODEL', 'TOKENS', 'COST', 'CALLER'])

/** The tokens of request and response have a plus between. */
export function entryLine(entry: GatewayEntry): string {
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

export function jsonLine({ gateway, ...entry }: GatewayEntry): string {
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

function costOf({ cost }: ShownEntry): string {
  return cost === null ? '-' : `$${Number(cost.toPrecision(4))}`
}

function callerOf({ token_name, user_email, client_name }: ShownEntry): string {
  if (user_email !== undefined) return client_name ? `${user_email} by ${client_name}` : user_email
  return token_name ?? '-'
}
