// The handler of things that need attention in an account.

import { permits } from '../../permissions/permit.ts'
import { type ApiResponse, success } from '../http/envelope.ts'
import { isoTime } from '../records/record-handlers.ts'
import type { Api, Call } from '../api/api-types.ts'
import { zonesOf } from '../api/zone-owner.ts'
import { severities } from '../attention/findings.ts'

export async function listAttention({ account, caller, now }: Call, api: Api): Promise<ApiResponse> {
  const { store, secrets, zones, attention, limits, logExport, instance } = api
  const providers = () => api.providers.all()
  const pools = async () => {
    const [own, all] = await Promise.all([zonesOf(account, zones.all(), store.accounts), zones.allOrigins()])
    return own.map(({ name }) => [name, all.get(name) ?? []] as const)
  }
  const certificates = async () => {
    const own = await zonesOf(account, zones.all(), store.accounts)
    return own.map(({ name }) => [name, zones.certificates(name)] as const)
  }
  const report = await attention.read({
    store,
    secrets,
    account,
    now,
    limits,
    requests: instance.requests,
    logExport: logExport?.state ?? null,
    providers,
    pools,
    certificates,
  })
  const seen = report?.results.filter(({ permission }) => permits(caller, permission, account)) ?? []
  const items = seen
    .flatMap(({ findings }) => findings)
    .sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  const counts = Object.fromEntries(seen.flatMap(({ counts }) => [...counts]))
  return success({ at: report === null ? null : isoTime(report.at), counts, items })
}
