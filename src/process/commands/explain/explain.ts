// `gatehouse explain`: what would happen to a request, as the running gateway sees it.

import { HostLookup } from '../../../zones/lookup.ts'
import { hostName } from '../../../http1/fields/host.ts'
import type { Explanation } from '../../../zones/explanation.ts'
import type { ApiClient } from '../api/api-client.ts'
import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { complain, printResult } from '../../terminal/output.ts'
import { questionOf } from './question.ts'
import { explanationText } from './text.ts'

/**
 * Returns 0 if the request would pass, 1 if it would be refused or that depends on its body, 2 if unknown.
 */
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
