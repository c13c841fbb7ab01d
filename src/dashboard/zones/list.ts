// The list of zones.

import { type Html, html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import type { Handler } from '../page/page-request.ts'
import { badge, badges, emptyState, pager, table } from '../parts/lists.ts'
import { searchForm } from '../parts/search.ts'
import { codeBlock } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import type { Zone } from './zone.ts'

const onAPage = 50

export const showZones: Handler = async ({ api, account, query }) => {
  const name = query.get('name') ?? ''
  const response = await api.get<Zone[]>('/zones', {
    'account.id': account.id,
    page: query.get('page'),
    per_page: onAPage,
    name,
  })
  const { result, info } = response
  const path = paths.zones(account.id)
  if (info!.total_count === 0 && name === '')
    return {
      title: 'Zones',
      content: emptyState(
        'No zones in this account',
        html`A zone is a set of hosts with their routes and origins. The operator of this gateway adds it to the configuration file, and reloads it with <code>gatehouse reload</code>. One without an account is in the oldest account.`,
        codeBlock('In the configuration file', zoneExample(account.id)),
      ),
    }
  const isSearched = name !== '' || info!.total_count > onAPage
  const columns = [
    {
      title: 'Name',
      isName: true,
      cell: ({ name }: Zone) => html`<a href="${paths.zone(account.id, name)}">${isolated(name)}</a>`,
    },
    { title: 'State', cell: (zone: Zone) => html`<span class="tags">${badgesOf(zone)}</span>` },
    { title: 'Hosts', cell: ({ hosts }: Zone) => hostsOf(hosts) },
    { title: 'Routes', isNumber: true, cell: ({ routes }: Zone) => routes.length },
    {
      title: 'Origins',
      isNumber: true,
      cell: ({ pools }: Zone) => pools.reduce((sum, { origins }) => sum + origins, 0),
    },
  ]
  return {
    title: 'Zones',
    isWide: true,
    content: html`${isSearched && searchForm({ path, label: 'Name', name: 'name', value: name })}${
      result.length === 0
        ? emptyState('Nothing found', 'No zone has this in its name.', html`<a href="${path}">All zones</a>`)
        : table('Zones of this account', columns, result)
    }${pager(path, query, info!)}`,
  }
}

const zoneExample = (account: string) => `pools:
  site: { origins: ['http://127.0.0.1:3000'] }
zones:
  - hosts: [www.example.com]
    account: ${account}
    routes: [{ path: /, pool: site }]
`

/** Returns the facts about a zone at a glance. */
export function badgesOf({ paused, is_default }: Zone): Html {
  return badges([
    paused ? badge('paused', 'bad') : badge('active', 'good'),
    ...(is_default ? [badge('default')] : []),
  ])
}

const shownHosts = 3

function hostsOf(hosts: readonly string[]): Html {
  const visible = hosts.slice(0, shownHosts)
  const more = hosts.length - visible.length
  return html`<span class="long">${visible.map((host, i) => [i > 0 && ', ', isolated(host)])}</span>${more > 0 && html` <span class="hint">and ${more} more</span>`}`
}
