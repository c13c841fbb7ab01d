// The keys of providers that a gateway has of its own.

import { html } from '../../../base/text/html.ts'
import { isolated } from '../../../pages/parts/components.ts'
import type { Handler, PageRequest } from '../../page/page-request.ts'
import { paths } from '../../page/paths.ts'
import { badge, emptyState, pager, table } from '../../parts/lists.ts'
import { stepLink } from '../../parts/next-step.ts'
import { oneLine, time } from '../../parts/values.ts'
import { crumbsOf, findGateway, gatewayOf } from '../page-data.ts'

/** A key in the form of the management API, which never shows the key itself. */
export interface ProviderKey {
  readonly id: string
  readonly provider_slug: string
  readonly alias: string
  readonly default_config: boolean
  /** Its last characters, after an ellipsis; nothing but that for a short key. */
  readonly secret_preview: string
  readonly last_used_at: string | null
  readonly modified_at: string
}

export const showKeys: Handler = async request => {
  const { account, params, query } = request
  const [{ result: gateway }, { result: keys, info }] = await Promise.all([
    findGateway(request),
    request.api.get<readonly ProviderKey[]>(gatewayOf(request, 'provider_configs'), {
      page: query.get('page'),
    }),
  ])
  const add = stepLink(paths.newProviderKey(account.id, params.gateway!), 'Add a key')
  const isEmpty = info!.total_count === 0
  const guide = html`<a href="${paths.guide(account.id, 'ai-gateways')}#keys-of-a-gateway">Keys of a gateway</a>`
  const others = gateway.byok_only
    ? 'Calls that find none here and bring none are refused.'
    : 'Calls that find none here use the keys of the configuration.'
  const about = html`Calls through this gateway use these keys before those of the configuration. Members with AI Gateway Edit see and set them; apps may not on behalf of any of them. They are stored sealed, and never shown again; ${guide} has the details. ${others}`
  return {
    title: 'Provider keys',
    crumbs: crumbsOf(request, true),
    isWide: true,
    ...(!isEmpty && { actions: add }),
    content: isEmpty
      ? emptyState('No keys yet', about, add)
      : html`<p class="lead">${about}</p>${table('Keys of providers', columnsOf(request), keys)}${pager(listOf(request), query, info!)}`,
  }
}

function columnsOf({ account, params }: PageRequest) {
  const path = ({ id }: ProviderKey) => paths.deleteProviderKey(account.id, params.gateway!, id)
  return [
    {
      title: 'Provider',
      isName: true,
      cell: ({ provider_slug }: ProviderKey) => isolated(provider_slug),
    },
    {
      title: 'Alias',
      cell: ({ alias, default_config }: ProviderKey) =>
        html`<span>${isolated(alias)}${default_config && html` ${badge('default', 'good')}`}</span>`,
    },
    {
      title: 'Key',
      cell: ({ secret_preview }: ProviderKey) => html`<code>${oneLine(secret_preview)}</code>`,
    },
    { title: 'Last used', cell: ({ last_used_at }: ProviderKey) => time(last_used_at) },
    { title: 'Added', cell: ({ modified_at }: ProviderKey) => time(modified_at) },
    {
      title: 'Change',
      cell: (key: ProviderKey) =>
        html`<a class="button danger small" href="${path(key)}">${oneLine('Delete…')}<span class="unseen"> ${nameOf(key)}</span></a>`,
    },
  ]
}

export function nameOf({ provider_slug, alias, secret_preview }: ProviderKey): string {
  return `${provider_slug} ${alias} ${secret_preview}`
}

/** Returns the page of the list. */
export function listOf({ account, params }: PageRequest): string {
  return paths.providerKeys(account.id, params.gateway!)
}

/** Returns the pages above one below the list. */
export function crumbsOfKeys(request: PageRequest) {
  return [...crumbsOf(request, true), { title: 'Provider keys', path: listOf(request) }]
}
