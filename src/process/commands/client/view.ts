// `gatehouse client list`, `show` and `events`: OAuth clients at a terminal.

import { columns, json } from '../../terminal/format.ts'
import { print, tell, printResult } from '../../terminal/output.ts'
import { clients, withApi, withClient } from '../api/session.ts'
import type { Input } from '../input.ts'

export function list(input: Input): Promise<number> {
  return withApi(input, async api => {
    const records = await api.all<ShownClient>(clients, filtersOf(input))
    return printResult(input, records, columns([clientHead, ...records.map(clientCells)]))
  })
}

const clientHead = ['CLIENT ID', 'VISIBILITY', 'DOMAIN', 'SECRETS', 'CREATED', 'NAME']

function clientCells(client: ShownClient): string[] {
  const { client_id: id, visibility, created_at: created, client_name: name } = client
  const proof = client.client_uri_verification?.status ?? '-'
  return [id, visibility, proof, secretsOf(client), created.slice(0, 10), name]
}

function secretsOf(client: ShownClient): string {
  if (client.token_endpoint_auth_method === 'none') return '0'
  return client.has_rotated_secret ? '2' : '1'
}

function filtersOf({ name, visibility }: Input): Record<string, string> {
  return {
    ...(name === undefined ? {} : { client_name: name }),
    ...(visibility === undefined ? {} : { visibility }),
  }
}

export function show(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    const { result } = await api.ask<ShownClient>('GET', path)
    print(input.json ? json(result) : clientText(result))
    if (result.client_uri_verification?.status === 'failed') tell(failedSentence(id))
    if (result.has_rotated_secret)
      tell(`Both secrets work. Once the older one is unused, run gatehouse client drop-old-secret ${id}`)
    return 0
  })
}

interface ShownEvent {
  readonly when: string
  readonly step: string
  readonly result: string
  readonly error?: string
  readonly reason?: string
}

export function events(input: Input): Promise<number> {
  return withClient(input, async (api, path) => {
    const query = input.failed ? '?result=failure' : ''
    const { result } = await api.ask<readonly ShownEvent[]>('GET', `${path}/authorization_events${query}`)
    return printResult(input, result, columns([eventHead, ...result.map(eventCells)]))
  })
}

const eventHead = ['WHEN', 'STEP', 'RESULT', 'REASON']

function eventCells({ when, step, result, error, reason }: ShownEvent): string[] {
  return [when, step, error ?? result, reason ?? '']
}

export interface ShownClient {
  readonly client_id: string
  readonly client_secret?: string
  readonly client_name: string
  readonly visibility: 'private' | 'public'
  readonly token_endpoint_auth_method: string
  readonly grant_types: readonly string[]
  readonly response_types: readonly string[]
  readonly redirect_uris: readonly string[]
  readonly scopes: readonly string[]
  readonly optional_scopes?: readonly string[]
  readonly post_logout_redirect_uris?: readonly string[]
  readonly allowed_cors_origins?: readonly string[]
  readonly logo_uri?: string
  readonly policy_uri?: string
  readonly tos_uri?: string
  readonly client_uri?: string
  readonly client_uri_verification?: ShownVerification
  readonly client_secrets?: readonly ShownSecret[]
  readonly has_rotated_secret: boolean
  readonly created_at: string
  readonly updated_at: string
  readonly promoted_at?: string | null
}

export interface ShownVerification {
  readonly status: 'pending' | 'in_progress' | 'verified' | 'failed'
  /** What the TXT record must contain. */
  readonly text: string
  readonly host: string
  readonly last_answer?: ShownAnswer | null
  readonly next_check?: string | null
  readonly deadline?: string | null
  readonly verified_at?: string | null
}

interface ShownAnswer {
  readonly at: string
  readonly outcome: string
  readonly records: readonly string[]
  readonly hint?: string
}

interface ShownSecret {
  readonly created_at: string
  readonly tail: string
  readonly last_used_at?: string | null
  readonly status?: string
}

export function clientText(client: ShownClient): string {
  const proof = client.client_uri_verification
  const rows = [...members.flatMap(name => rowsOf(name, client[name])), ...secretRows(client)]
  return `${columns(rows)}${proof ? `\n${proofText(proof)}` : ''}`
}

export function proofText(proof: ShownVerification): string {
  const rows = [
    ['host', proof.host],
    ['status', proof.status],
    ...(proof.status === 'verified' ? rowsOf('verified at', proof.verified_at) : openRows(proof)),
  ]
  return columns(rows)
}

export function recordText({ host, text }: ShownVerification): string {
  return columns([
    ['record name', host],
    ['record type', 'TXT'],
    ['record value', text],
  ])
}

export function failedSentence(id: string): string {
  return `The record was not found in time. Once it is published, run gatehouse client verify ${id}`
}

export function answerInWords({ outcome, records }: ShownAnswer): string {
  const words = outcomes[outcome] ?? outcome
  return records.length === 0
    ? words
    : `${words}: ${records.map(record => JSON.stringify(record)).join(', ')}`
}

export const settingNames = [
  'client_name',
  'token_endpoint_auth_method',
  'grant_types',
  'response_types',
  'redirect_uris',
  'post_logout_redirect_uris',
  'allowed_cors_origins',
  'scopes',
  'optional_scopes',
  'logo_uri',
  'policy_uri',
  'tos_uri',
  'client_uri',
  'visibility',
] as const

const members = ['client_id', ...settingNames, 'promoted_at', 'created_at', 'updated_at'] as const

const outcomes: Readonly<Record<string, string>> = {
  found: 'record found',
  no_match: 'other TXT records found, but not this one',
  no_records: 'no TXT records found',
  no_such_name: 'name does not exist',
  server_failure: 'DNS server failed',
  refused: 'DNS server refused the query',
  timeout: 'DNS timed out',
  error: 'no usable response',
}

function openRows(proof: ShownVerification): string[][] {
  const { last_answer: answer, next_check, deadline } = proof
  return [
    ['record name', proof.host],
    ['record type', 'TXT'],
    ['record value', proof.text],
    ...rowsOf('last check', answer?.at),
    ...(answer ? [['result', answerInWords(answer)]] : []),
    ...rowsOf('hint', answer?.hint),
    ...rowsOf('next check', next_check),
    ...rowsOf('deadline', deadline),
  ]
}

function rowsOf(label: string, value: string | readonly string[] | null | undefined): string[][] {
  const values = typeof value === 'string' ? [value] : (value ?? [])
  return values.map((one, i) => [i === 0 ? label : '', one])
}

const keyLost = 'rejected: the server key that protects it is unknown'

function secretRows({ client_secrets: secrets = [] }: ShownClient): string[][] {
  return rowsOf(
    'client_secrets',
    // Absent means not reported, which is not the same as unused.
    secrets.map(({ tail, created_at, last_used_at, status }) => {
      const use = last_used_at ? `, last used ${last_used_at}` : ''
      return `…${tail}, created ${created_at}${use}${status === 'key_lost' ? `, ${keyLost}` : ''}`
    }),
  )
}
