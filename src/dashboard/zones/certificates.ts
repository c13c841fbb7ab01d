// The certificates of the hosts of a zone: their names, expiry, and renewal.

import { type Html, html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import { badge, cutPage, pager, table } from '../parts/lists.ts'
import { time } from '../parts/values.ts'
import { crumbsOf, inZone, tabsOf, zoneOf } from './page-data.ts'

interface HostCertificate {
  readonly host: string
  readonly source: 'file' | 'acme' | null
  readonly status: keyof typeof kinds
  readonly subject: string | null
  readonly issuer: string | null
  readonly names: readonly string[]
  readonly expires_on: string | null
  readonly next_attempt_at: string | null
  readonly consecutive_failures: number
  readonly last_error: { readonly at: string; readonly message: string } | null
}

export const showCertificates = inZone(async (request, zone) => {
  const response = await request.api.get<HostCertificate[]>(zoneOf(request, 'certificates'))
  const { items: visible, info } = cutPage(response.result, request.query)
  return {
    title: 'Certificates',
    crumbs: crumbsOf(request, zone),
    isWide: true,
    content: html`${tabsOf(request, zone)}<div id="certificates" data-live="15">${table('Certificates of the hosts', columns, visible)}${pager(request.path, request.query, info)}</div>
<p class="aside">Certificates in files are read again when they change. To have an automatic one ordered now, use <code>gatehouse certificates renew HOST</code>.</p>`,
  }
})

const kinds = {
  valid: 'good',
  due: '',
  ordering: '',
  missing: 'bad',
  failing: 'bad',
  unreadable: 'bad',
  expired: 'bad',
  not_yet_valid: 'bad',
} as const

const sources = { file: 'from a file', acme: 'automatic' } as const

const maxNames = 4

const columns = [
  {
    title: 'Host',
    isName: true,
    cell: ({ host, source }: HostCertificate) =>
      html`<div><code class="long">${host}</code><p class="hint">${source === null ? 'not served over https' : sources[source]}</p></div>`,
  },
  { title: 'State', cell: statePart },
  { title: 'Certificate', cell: certificatePart },
  {
    title: 'Expires',
    cell: (holding: HostCertificate) =>
      html`<div>${time(holding.expires_on, '-')}${nextOrder(holding)}</div>`,
  },
]

function statePart({ status, last_error: error, consecutive_failures: failures }: HostCertificate): Html {
  return html`<div class="long">${badge(status.replaceAll('_', ' '), kinds[status])}${
    error !== null &&
    html`<p>${isolated(error.message)}</p><p class="hint">${time(error.at)}${failures > 1 && `, ${failures} times in a row`}</p>`
  }</div>`
}

function certificatePart({ subject, issuer, names }: HostCertificate): Html {
  if (issuer === null) return html`none`
  const visible = names.slice(0, maxNames).join(', ')
  const more = names.length - maxNames
  const hosts = html`${visible}${more > 0 && ` and ${more} more`}`
  // Certificates of public authorities name their hosts and no subject.
  const what = subject === '' ? hosts : html`${isolated(subject!)}<p class="hint">for ${hosts}</p>`
  return html`<div class="long">${what}<p class="hint">issued by ${issuer}</p></div>`
}

function nextOrder({ source, status, next_attempt_at: at }: HostCertificate): Html | null {
  if (source !== 'acme') return null
  const when = at !== null ? time(at) : status === 'ordering' ? 'under way' : 'as soon as possible'
  return html`<p class="hint">next order: ${when}</p>`
}
