// `gatehouse explain`: what would happen to a request, as the running gateway sees it.

import { readFileSync } from 'node:fs'
import { hostName } from '../../../http1/fields/host.ts'
import { valueHoldsOurs } from '../../../tokens/misplaced-tokens.ts'
import type { Explanation } from '../../../zones/explanation.ts'
import { HostLookup } from '../../../zones/lookup.ts'
import { complain, printResult } from '../../terminal/output.ts'
import type { ApiClient } from '../api/api-client.ts'
import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { explanationText } from './text.ts'

export async function explain(input: Input): Promise<number> {
  const question = questionOf(input)
  if ('flaw' in question) return complain(question.flaw)
  let outcome: Explanation['outcome'] | null = null
  await withApi(input, async api => {
    const zone = input.zone ?? (await zoneFor(question.value.host, api))
    if (zone === null) return complain('the token sees no zone: name one with --zone')
    const path = `/zones/${encodeURIComponent(zone)}/explain`
    const { result } = await api.outside.ask<Explanation>('POST', path, { body: question.value })
    outcome = result.outcome
    return printResult(input, result, explanationText(result))
  })
  return outcome === null ? 2 : outcome === 'forwarded' || outcome === 'responded' ? 0 : 1
}

interface ShownZone {
  readonly name: string
  readonly hosts: readonly string[]
  readonly is_default: boolean
}

/** If no zone serves the host, any zone will do: the explanation is the same. */
async function zoneFor(host: string, api: ApiClient): Promise<string | null> {
  const zones = await zonesOf(api)
  const hosts = zones.flatMap(({ name, hosts }) => hosts.map(host => [host, name] as const))
  const fallback = zones.find(zone => zone.is_default) ?? zones[0]
  return new HostLookup(hosts, fallback?.name ?? null).find(hostName(host) ?? '')
}

const perPage = 100

async function zonesOf(api: ApiClient): Promise<readonly ShownZone[]> {
  const zones: ShownZone[] = []
  for (let page = 1; zones.length === (page - 1) * perPage; page++) {
    const query = new URLSearchParams({ 'account.id': api.account, page: `${page}`, per_page: `${perPage}` })
    zones.push(...(await api.outside.ask<readonly ShownZone[]>('GET', `/zones?${query}`)).result)
  }
  return zones
}

interface Question {
  readonly host: string
  readonly address: string
  readonly path?: string
  readonly method?: string
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body?: string
  readonly body_size?: number
  readonly client_certificate?: string
}

function questionOf(input: Input): { readonly value: Question } | { readonly flaw: string } {
  const {
    host,
    address,
    path,
    method,
    header = [],
    file,
    'body-size': size,
    'client-certificate': pem,
  } = input
  if (host === undefined || address === undefined) return { flaw: 'a request needs --host and --address' }
  if (header.some(isSecret)) return { flaw: secretInArgument }
  if (size !== undefined && !/^\d{1,13}$/.test(size)) return { flaw: '--body-size must be a number of bytes' }
  const headers = headersOf(header)
  if ('flaw' in headers) return headers
  const body = file === undefined ? undefined : textOf(file)
  if (body === null) return { flaw: '--file names a file that cannot be read' }
  const certificate = pem === undefined ? undefined : textOf(pem)
  if (certificate === null) return { flaw: '--client-certificate names a file that cannot be read' }
  return {
    value: {
      host,
      address,
      headers: headers.value,
      ...(path !== undefined && { path }),
      ...(method !== undefined && { method }),
      ...(body !== undefined && { body }),
      ...(size !== undefined && { body_size: Number(size) }),
      ...(certificate !== undefined && { client_certificate: certificate }),
    },
  }
}

const secretInArgument =
  'other users of this machine see arguments: put a header with a token into a file, and name that with --header @PATH'

function isSecret(header: string): boolean {
  return valueHoldsOurs(header.slice(header.indexOf(':') + 1).trim())
}

type Headers = Record<string, string[]>

function headersOf(options: readonly string[]): { readonly value: Headers } | { readonly flaw: string } {
  const headers: Headers = Object.create(null)
  for (const option of options) {
    const text = option.startsWith('@') ? textOf(option.slice(1)) : option
    if (text === null) return { flaw: '--header @PATH names a file that cannot be read' }
    for (const line of text.split(/\r?\n/).filter(line => line !== '')) {
      const colon = line.indexOf(':')
      if (colon < 1) return { flaw: "a header must be written as 'name: value'" }
      const name = line.slice(0, colon)
      ;(headers[name] ??= []).push(line.slice(colon + 1).trim())
    }
  }
  return { value: headers }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
