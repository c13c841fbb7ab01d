// `gatehouse gateway list`, `show` and `delete`.

import { isGatewayId } from '../../../ai/gateway-directory.ts'
import { columns } from '../../terminal/format.ts'
import { complain, printResult, tellDone } from '../../terminal/output.ts'
import type { ApiClient } from '../api/api-client.ts'
import { confirmed } from '../api/confirm.ts'
import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { inWords as limitsInWords, type WireLimits } from '../spending.ts'
import { guardInWords, type WireGuard } from './guard.ts'

export function list(input: Input): Promise<number> {
  return withApi(input, async api => {
    const records = await api.all<ShownGateway>(gateways)
    return printResult(input, records, columns([head, ...records.map(cells)]))
  })
}

export function show(input: Input): Promise<number> {
  return withGateway(input, async (api, path) => {
    const { result } = await api.ask<ShownGateway>('GET', path)
    return printResult(input, result, columns(members.map(name => [name, wordsOf(result, name)])))
  })
}

const head = ['GATEWAY ID', 'AUTHENTICATION', 'BODIES', 'LOG ENTRIES', 'RATE LIMIT', 'CREATED']

function cells(gateway: ShownGateway): string[] {
  const { id, authentication, collect_logs, created_at } = gateway
  const limits = [entriesOf(gateway), rateOf(gateway)]
  return [id, inWords(authentication), inWords(collect_logs), ...limits, created_at.slice(0, 10)]
}

function entriesOf({ log_management: maxEntries, log_management_strategy: strategy }: ShownGateway): string {
  if (maxEntries === 0) return 'none'
  return strategy === 'STOP_INSERTING' ? `first ${maxEntries}` : `last ${maxEntries}`
}

function rateOf(gateway: ShownGateway): string {
  const {
    rate_limiting_limit: maxRequests,
    rate_limiting_interval: interval,
    rate_limiting_key: key,
  } = gateway
  if (maxRequests === 0) return '-'
  return `${maxRequests} in ${interval} s${key === 'gateway' ? '' : ` by ${key}`}`
}

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
  'retry_max_attempts',
  'retry_delay',
  'retry_backoff',
  'on_abandon',
  'spend_limits',
  'default_max_tokens',
  'unpriced_cost',
  'cache_ttl',
  'cache_invalidate_on_update',
  'cache_scope',
  'idempotency_keys',
  'dlp',
  'stream_usage',
  'created_at',
  'modified_at',
] as const

function inWords(value: string | number | boolean | null): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return String(value ?? '-')
}

function wordsOf(gateway: ShownGateway, name: (typeof members)[number]): string {
  if (name === 'dlp') return gateway.dlp === null ? '-' : guardInWords(gateway.dlp)
  if (name !== 'spend_limits') return inWords(gateway[name])
  return gateway.spend_limits === null ? '-' : limitsInWords(gateway.spend_limits)
}

const deletion = {
  consequence: 'deleting a gateway deletes its log entries, and its calls fail',
  question:
    'This deletes the log entries of the gateway, and its calls will fail. Type its id to delete it: ',
  refrained: 'Nothing was deleted.',
} as const

export function remove(input: Input): Promise<number> {
  return confirmed(withGateway, input, deletion, async (api, path, id) => {
    const { result } = await api.ask('DELETE', path)
    return tellDone(input, result, `Deleted the gateway ${id}.`)
  })
}

export interface ShownGateway {
  readonly id: string
  readonly authentication: boolean
  readonly collect_logs: boolean
  readonly log_management: number
  readonly log_management_strategy: string
  readonly rate_limiting_limit: number
  readonly rate_limiting_interval: number
  readonly rate_limiting_technique: string | null
  readonly rate_limiting_key: string
  readonly retry_max_attempts: number | null
  readonly retry_delay: number | null
  readonly retry_backoff: string | null
  readonly on_abandon: string
  readonly spend_limits: WireLimits | null
  readonly default_max_tokens: number
  readonly unpriced_cost: number | null
  readonly cache_ttl: number
  readonly cache_invalidate_on_update: boolean
  readonly cache_scope: string
  readonly idempotency_keys: boolean
  readonly dlp: WireGuard | null
  readonly stream_usage: boolean
  readonly created_at: string
  readonly modified_at: string
}

export const gateways = '/ai-gateway/gateways'

export async function withGateway(
  input: Input,
  use: (api: ApiClient, path: string, id: string) => Promise<number>,
): Promise<number> {
  const [id = ''] = input.args
  const flaw = gatewayIdFlaw(id)
  return flaw === null ? withApi(input, api => use(api, `${gateways}/${id}`, id)) : complain(flaw)
}

export function gatewayIdFlaw(id: string): string | null {
  return isGatewayId(id)
    ? null
    : 'the id of a gateway has 1 to 64 lower-case letters, digits, hyphens and underscores'
}
