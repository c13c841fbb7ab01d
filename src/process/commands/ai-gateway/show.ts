// `gatehouse gateway list` and `gatehouse gateway show`: the AI gateways of an account, and their settings.

import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { columns, json } from '../../terminal/format.ts'
import { print } from '../../terminal/output.ts'
import { gateways, type ShownGateway, withGateway } from './shown-gateway.ts'

export function list(input: Input): Promise<number> {
  return withApi(input, async api => {
    const found = await api.all<ShownGateway>(gateways)
    print(input.json ? json(found) : columns([head, ...found.map(cells)]))
    return 0
  })
}

export function show(input: Input): Promise<number> {
  return withGateway(input, async (api, path) => {
    const { result } = await api.ask<ShownGateway>('GET', path)
    print(input.json ? json(result) : columns(members.map(name => [name, inWords(result[name])])))
    return 0
  })
}

const head = ['GATEWAY ID', 'AUTHENTICATION', 'BODIES', 'LOG ENTRIES', 'RATE LIMIT', 'CREATED']

function cells(gateway: ShownGateway): string[] {
  const { id, authentication, collect_logs, created_at } = gateway
  const limits = [entriesOf(gateway), rateOf(gateway)]
  return [id, inWords(authentication), inWords(collect_logs), ...limits, created_at.slice(0, 10)]
}

function entriesOf({ log_management: most, log_management_strategy: strategy }: ShownGateway): string {
  if (most === 0) return 'none'
  return strategy === 'STOP_INSERTING' ? `first ${most}` : `last ${most}`
}

function rateOf(gateway: ShownGateway): string {
  const { rate_limiting_limit: most, rate_limiting_interval: interval, rate_limiting_key: key } = gateway
  if (most === 0) return '-'
  return `${most} in ${interval} s${key === 'gateway' ? '' : ` by ${key}`}`
}

/** In the order of the options. */
const members = [
  'id',
  'authentication',
  'collect_logs',
  'log_management',
  'log_management_strategy',
  'rate_limiting_limit',
  'rate_limiting_interval',
  'rate_limiting_technique',
  'rate_limiting_key',
  'stream_usage',
  'created_at',
  'modified_at',
] as const

function inWords(value: string | number | boolean | null): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return String(value ?? '-')
}
