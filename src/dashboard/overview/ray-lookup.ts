// Finds the record of a request by its ray id, which clients and logs name.

import { html } from '../../base/text/html.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import { apiPath, type Failure, isOutage } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { emptyState } from '../parts/lists.ts'
import { paths, withQuery } from '../page/paths.ts'

const maxGateways = 200
const atOnce = 20

/** Leads to the call of an AI gateway with this ray, or else to the error that the request got. */
export const findRay: Handler = async request => {
  const { account, query, may } = request
  const ray = (query.get('ray') ?? query.get('q') ?? '').trim().toLowerCase()
  if (isRay(ray)) {
    const gateway = may('AI Gateway Read') ? await gatewayOf(request, ray) : null
    if (typeof gateway === 'object' && gateway !== null) return gateway
    if (gateway !== null) return redirectTo(paths.log(account.id, gateway, ray))
    const errors = may('Analytics Read') && (await isError(request, ray))
    if (typeof errors === 'object') return errors
    if (errors) return redirectTo(withQuery(paths.errors(account.id), { ray }))
  }
  return {
    title: 'Find a request',
    content: emptyState(
      ray === '' ? 'Which request?' : 'Nothing found',
      html`${ray !== '' && html`Nothing is known of <code class="long">${ray.slice(0, 40)}</code>. `}Enter a ray id: 16 hex digits, as in the field <code>svc-ray</code> of each response and on each error page. Calls of AI gateways are found in their logs, other requests among the errors of the last day, as long as they are of the last 20 of their kind. The access log has all.`,
    ),
  }
}

export function isRay(words: string): boolean {
  return /^[0-9a-f]{16}$/i.test(words)
}

/**
 * Returns the gateway that has a call in its log; null for none, and a failure if that is unknown for now.
 */
async function gatewayOf({ api, account }: PageRequest, ray: string): Promise<string | Failure | null> {
  const gateways = (...steps: string[]) => apiPath('accounts', account.id, 'ai-gateway', 'gateways', ...steps)
  for (let page = 1; page <= maxGateways / atOnce; page++) {
    const response = await api.tryGet<readonly { readonly id: string }[]>(gateways(), {
      page,
      per_page: atOnce,
    })
    if (!response.ok) return isOutage(response) ? response : null
    const ids = response.result.map(({ id }) => id)
    const responses = await Promise.all(ids.map(id => api.tryGet(gateways(id, 'logs', ray))))
    const at = responses.findIndex(({ ok }) => ok)
    if (at >= 0) return ids[at]!
    const failure = responses.find(one => !one.ok && isOutage(one))
    if (failure?.ok === false) return failure
    if (ids.length < atOnce) return null
  }
  return null
}

async function isError({ api, account }: PageRequest, ray: string): Promise<boolean | Failure> {
  const response = await api.tryGet<readonly unknown[]>(apiPath('accounts', account.id, 'errors'), { ray })
  if (!response.ok) return isOutage(response) && response
  return response.result.length > 0
}
