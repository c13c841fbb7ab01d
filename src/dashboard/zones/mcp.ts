// What the MCP servers of a zone were asked in the last day, by whom, and what was refused.

import { type Html, html } from '../../base/text/html.ts'
import { formatDuration } from '../../base/text/quantity.ts'
import { isolated } from '../../pages/parts/components.ts'
import { badge, emptyState, table } from '../parts/lists.ts'
import { grouped } from '../parts/numbers.ts'
import { codeBlock } from '../parts/values.ts'
import { withQuery, paths } from '../page/paths.ts'
import type { PageRequest } from '../page/page-request.ts'
import { type CallerName, namesOf } from './mcp-callers.ts'
import type { Zone } from './zone.ts'
import { crumbsOf, inZone, tabsOf, zoneOf } from './page-data.ts'

interface Results {
  readonly answered: number
  readonly refused: number
  readonly failed: number
  readonly cancelled: number
}

interface Message extends Results {
  readonly method: string
  readonly name: string | null
  readonly mean_ms: number | null
}

interface Caller extends Results {
  readonly subject: string
}

interface Refused {
  readonly method: string
  readonly name: string | null
  readonly reason: string
  readonly count: number
}

interface McpRoute {
  readonly route: string
  readonly messages: readonly Message[]
  readonly callers: readonly Caller[]
  readonly refusals: readonly Refused[]
}

export const showMcp = inZone(async (request, zone) => {
  const { result } = await request.api.get<McpRoute[]>(zoneOf(request, 'mcp'))
  return {
    title: 'MCP servers',
    crumbs: crumbsOf(request, zone),
    isWide: true,
    content: html`${tabsOf(request, zone)}<div id="mcp" data-live="5">${
      result.length === 0
        ? emptyState(
            'No MCP servers',
            html`A route with <code>mcp</code> knows what clients ask of the server behind it. The operator of this gateway adds it to the zone in the configuration file, and reloads it with <code>gatehouse reload</code>.`,
            codeBlock('In the zone', example),
          )
        : await routePart(request, zone, result)
    }</div>`,
  }
})

const example = `routes:
  - { path: /mcp, pool: tools, mcp: true }
`

/** Shows the route of the query, or else the first. */
async function routePart(request: PageRequest, { name }: Zone, routes: readonly McpRoute[]): Promise<Html> {
  const { account, query } = request
  const chosen = routes.find(({ route }) => route === query.get('route')) ?? routes[0]!
  const path = paths.zoneMcp(account.id, name)
  const others = routes.filter(one => one !== chosen)
  const callers = chosen.callers.slice(0, mostShown)
  const names = await namesOf(
    request,
    callers.map(({ subject }) => subject),
  )
  return html`<h2 class="over"><code>${chosen.route}</code></h2>${
    others.length > 0 &&
    html`<p class="aside">Other routes: ${others.map(({ route }, i) => [i > 0 && ', ', html`<a href="${withQuery(path, { route })}"><code>${route}</code></a>`])}</p>`
  }${tablesOf({ ...chosen, callers }, names)}`
}

function tablesOf(
  { route, messages, callers, refusals }: McpRoute,
  names: ReadonlyMap<string, CallerName>,
): Html {
  if (messages.length === 0) return html`<p class="hint">Nothing was asked of it in the last 24 hours.</p>`
  return html`<p class="aside">The last 24 hours, most frequent first, at most ${mostShown} of each.</p>
${table(`Asked of ${route}`, messageColumns, messages.slice(0, mostShown))}
${callers.length > 0 && table(`Callers of ${route}`, callerColumns(names), callers)}
${refusals.length > 0 && table(`Refused at ${route}`, refusalColumns, refusals.slice(0, mostShown))}`
}

const mostShown = 25

const resultColumns = [
  { title: 'Answered', isNumber: true, cell: ({ answered }: Results) => grouped(answered) },
  { title: 'Refused', isNumber: true, cell: ({ refused }: Results) => troubled(refused) },
  { title: 'Failed', isNumber: true, cell: ({ failed }: Results) => troubled(failed) },
  { title: 'Cancelled', isNumber: true, cell: ({ cancelled }: Results) => grouped(cancelled) },
] as const

const messageColumns = [
  { title: 'Asked', isName: true, cell: asked },
  ...resultColumns,
  {
    title: 'Mean time',
    isNumber: true,
    cell: ({ mean_ms: mean }: Message) =>
      mean === null ? '' : mean === 0 ? 'under 1ms' : formatDuration(mean),
  },
]

function callerColumns(names: ReadonlyMap<string, CallerName>) {
  const caller = {
    title: 'Caller',
    isName: true,
    cell: ({ subject }: Caller) => {
      const { name, page } = names.get(subject) ?? { name: subject, page: null }
      const text = isolated(name)
      return html`<span class="long">${page === null ? text : html`<a href="${page}">${text}</a>`}</span>`
    },
  }
  return [caller, ...resultColumns]
}

const refusalColumns = [
  { title: 'Refused', isName: true, cell: asked },
  { title: 'Reason', cell: ({ reason }: Refused) => html`<code>${reason}</code>` },
  { title: 'Messages', isNumber: true, cell: ({ count }: Refused) => grouped(count) },
]

function asked({ method, name }: Pick<Message, 'method' | 'name'>): Html {
  return html`<span class="long">${name !== null && html`${isolated(name)} `}<code>${method}</code></span>`
}

function troubled(count: number): string | Html {
  return count === 0 ? '0' : badge(grouped(count), 'bad')
}
