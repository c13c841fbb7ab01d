// Searches everything in an account by name, as far as its viewer may see it, and requests by their ray.

import { type Html, html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import type { Permission } from '../../permissions/permit.ts'
import { apiPath, type Failure, isOutage } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { emptyState } from '../parts/lists.ts'
import { searchForm } from '../parts/search.ts'
import { brief } from '../parts/values.ts'
import { paths, withQuery } from '../page/paths.ts'
import { findRay, isRay } from './ray-lookup.ts'

interface Hit {
  readonly name: string
  readonly path: string
  readonly hint?: string
}

/** A searchable kind of things: a list of the management API with its filter, and the page of each hit. */
interface Kind {
  readonly title: string
  readonly permission: Permission
  readonly list: (account: string) => string
  readonly query: (words: string, account: string) => Readonly<Record<string, string>>
  // biome-ignore lint/suspicious/noExplicitAny: each list has things of its own
  readonly hit: (item: any, account: string) => Hit
  readonly all?: (account: string, words: string) => string
}

const below =
  (...steps: readonly string[]) =>
  (account: string) =>
    apiPath('accounts', account, ...steps)

const kinds: readonly Kind[] = [
  {
    title: 'OAuth clients',
    permission: 'OAuth Clients Read',
    list: below('oauth_clients'),
    query: words => ({ client_name: words }),
    hit: ({ client_id, client_name }, account) => ({
      name: client_name,
      path: paths.client(account, client_id),
    }),
    all: (account, words) => withQuery(paths.clients(account), { name: words }),
  },
  {
    title: 'API tokens',
    permission: 'API Tokens Read',
    list: below('tokens'),
    query: words => ({ name: words, include_expired: 'true' }),
    hit: ({ id, name, status }, account) => ({ name, path: paths.token(account, id), hint: status }),
  },
  {
    title: 'AI gateways',
    permission: 'AI Gateway Read',
    list: below('ai-gateway', 'gateways'),
    query: words => ({ search: words }),
    hit: ({ id }, account) => ({ name: id, path: paths.gateway(account, id) }),
    all: (account, words) => withQuery(paths.gateways(account), { search: words }),
  },
  {
    title: 'Zones',
    permission: 'Zones Read',
    list: () => '/zones',
    query: (words, account) => ({ name: words, 'account.id': account }),
    hit: ({ name, hosts }, account) => ({
      name,
      path: paths.zone(account, name),
      hint: brief(hosts.join(', ')),
    }),
    all: (account, words) => withQuery(paths.zones(account), { name: words }),
  },
  {
    title: 'Members',
    permission: 'Members Read',
    list: below('members'),
    query: words => ({ search: words }),
    hit: ({ id, email }, account) => ({ name: email, path: paths.member(account, id) }),
  },
]

const maxPerKind = 5
const maxCharacters = 100

/** Leads to the request of a ray, or lists everything with the words in its name. */
export const search: Handler = async request => {
  const words = (request.query.get('q') ?? '').trim().slice(0, maxCharacters)
  if (request.query.has('ray') || isRay(words)) return findRay(request)
  const response = words === '' ? [] : await Promise.all(kinds.map(kind => findIn(request, kind, words)))
  const sections: Html[] = []
  for (const one of response)
    if (one !== null && 'ok' in one) return one
    else if (one !== null) sections.push(one)
  return {
    title: 'Search',
    content: html`${searchForm({ path: request.path, label: 'Words or a ray id', name: 'q', value: words })}<div id="found">${
      sections.length > 0
        ? sections
        : emptyState(
            words === '' ? 'What are you looking for?' : 'Nothing found',
            html`${words !== '' && html`Nothing that you may see here has <b>${isolated(words)}</b> in its name. `}Names of OAuth clients, API tokens, AI gateways, zones and members are searched. A ray id leads to its request: it has 16 hex digits.`,
          )
    }</div>`,
  }
}

/**
 * Returns the hits of a kind; null if the person may not see it, or there are none. A failed lookup is a
 * failure, since there may be hits.
 */
async function findIn(request: PageRequest, kind: Kind, words: string): Promise<Html | Failure | null> {
  const { id } = request.account
  if (!request.may(kind.permission)) return null
  const response = await request.api.tryGet<readonly unknown[]>(kind.list(id), {
    ...kind.query(words, id),
    per_page: maxPerKind,
  })
  if (!response.ok) return isOutage(response) ? response : null
  if (response.result.length === 0) return null
  const more = response.info!.total_count - response.result.length
  return html`<section class="card"><h2>${kind.title}</h2><ul class="plain-list">${response.result.map(
    item => {
      const { name, path, hint } = kind.hit(item, id)
      return html`<li><a href="${path}">${isolated(brief(name))}</a>${hint !== undefined && html` <span class="hint">${isolated(hint)}</span>`}</li>`
    },
  )}</ul>${more > 0 && html`<p class="hint">${kind.all === undefined ? `${more} more: add a word.` : html`<a href="${kind.all(id, words)}">${more} more</a>`}</p>`}</section>`
}
