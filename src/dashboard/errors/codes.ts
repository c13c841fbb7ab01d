// Every error of the catalogue, and one of them as a person, a program and an agent get it.

import { type Html, html } from '../../base/text/html.ts'
import { type Entry, entries, factsOf } from '../../errors/docs/entry.ts'
import { facts, isolated } from '../../pages/parts/components.ts'
import { missing } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { table } from '../parts/lists.ts'
import { codeBlock } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import {
  errorCrumbs,
  findZone,
  type Preview,
  previewOf,
  sourcesInWords,
  zoneCrumbs,
  zoneNamed,
  zonesOf,
} from './page-data.ts'
import { alone, frame, framed } from './sandbox.ts'

export const showCodes: Handler = async request => {
  const words = (request.query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const matches = entries.filter(({ code, name, title, status }) => {
    const text = `${code} ${name} ${title} ${status}`.toLowerCase()
    return words.every(word => text.includes(word))
  })
  const path = paths.errorCodes(request.account.id)
  return {
    title: 'All codes',
    crumbs: errorCrumbs(request),
    isWide: true,
    content: html`<form class="search" role="search" method="get" action="${path}"><div class="field"><label for="search-q">Code, name or words</label><input id="search-q" name="q" type="search" value="${request.query.get('q') ?? ''}" autocomplete="off"></div><button class="plain">Search</button></form>${
      matches.length === 0
        ? html`<div class="card empty"><h2>Nothing found</h2><p><a href="${path}">All codes</a></p></div>`
        : table('Errors of the gateway', columnsOf(request), matches)
    }`,
  }
}

function columnsOf({ account }: PageRequest) {
  return [
    {
      title: 'Code',
      isName: true,
      cell: ({ code }: Entry) => html`<a href="${paths.errorCode(account.id, String(code))}">${code}</a>`,
    },
    {
      title: 'Error',
      cell: ({ title, name }: Entry) => html`<div>${title} <code class="hint long">${name}</code></div>`,
    },
    { title: 'Status', isNumber: true, cell: ({ status }: Entry) => status },
    {
      title: 'Retry',
      cell: ({ retry_after }: Entry) =>
        retry_after === undefined ? 'no' : html`<span class="whole">after ${retry_after} s</span>`,
    },
    { title: 'Who must act', cell: whoActs },
  ]
}

function whoActs({ owner_action_required }: Entry): string {
  return owner_action_required ? 'you' : 'no one, or the client'
}

const readers = [
  { who: 'A program', accept: 'application/json' },
  { who: 'A program that knows problem details', accept: 'application/problem+json' },
  { who: 'An agent', accept: 'text/markdown' },
  { who: 'A terminal', accept: 'text/plain' },
] as const
const person = 'text/html'

export const showCode: Handler = async request => {
  const entry = entryOf(request)
  const zones = await zonesOf(request)
  const name = request.query.get('zone') ?? zones[0]?.id ?? null
  const zone = name === null ? null : await zoneNamed(request, name)
  const accepts = [person, ...readers.map(({ accept }) => accept)]
  const previews: Preview[] = []
  for (const result of await Promise.all(
    zone === null
      ? []
      : accepts.map(accept => previewOf(request.api, zone.result.id, { code: entry.code, accept })),
  )) {
    if (!result.ok) return result
    previews.push(result.result)
  }
  const [page, ...others] = previews
  return {
    title: `${entry.code} ${entry.title}`,
    crumbs: [...errorCrumbs(request), { title: 'All codes', path: paths.errorCodes(request.account.id) }],
    isWide: true,
    hasFrames: true,
    content: html`${explanation(entry)}${
      zone === null || page === undefined
        ? html`<div class="card"><p>Once the account has a zone, this page shows what its clients get.</p></div>`
        : html`${zoneForm(
            request,
            entry,
            zone.result.id,
            zones.map(({ id }) => id),
          )}<section class="card" aria-labelledby="person"><h2 id="person">A person sees</h2>${decided(page)}${frame(
            'The page of the error',
            request.framePathOf(paths.errorPreview(request.account.id, zone.result.id, String(entry.code))),
          )}</section>${readers.map(
            ({ who }, i) =>
              html`<section class="card wrap" aria-labelledby="reader-${i}"><h2 id="reader-${i}">${who} gets</h2>${decided(others[i]!)}${headOf(others[i]!)}${codeBlock('Body', others[i]!.body)}</section>`,
          )}`
    }`,
  }
}

/** Shows the page of an error in a zone, for a frame. */
export const frameError: Handler = async request => {
  const entry = entryOf(request)
  const zone = await findZone(request)
  if (request.isAlone) return alone(request, `${entry.code} ${entry.title}`, zoneCrumbs(request))
  const preview = await previewOf(request.api, zone.result.id, { code: entry.code, accept: person })
  return framed(preview, request)
}

function entryOf({ params }: PageRequest): Entry {
  return entries.find(({ code }) => String(code) === params.code) ?? missing()
}

function explanation(entry: Entry): Html {
  return html`<div class="card">${facts(factsOf(entry))}<h2>When it happens</h2><p>${entry.cause}</p><h2>What to check</h2><p>${entry.remedy}</p></div>`
}

function zoneForm({ account }: PageRequest, { code }: Entry, chosen: string, zones: readonly string[]): Html {
  return html`<form class="search" method="get" action="${paths.errorCode(account.id, String(code))}"><div class="field"><label for="search-zone">Zone</label><select id="search-zone" name="zone">${zones.map(
    zone => html`<option value="${zone}"${zone === chosen && html` selected`}>${zone}</option>`,
  )}</select></div><button class="plain">Show</button><a href="${paths.errorZone(account.id, chosen)}">Rules and pages of ${isolated(chosen)}</a></form>`
}

/** Makes a line with the status of a response, and the source of its content. */
export function decided({ status, source }: Preview): Html {
  return html`<p class="hint">Status ${status}, from ${sourcesInWords[source]}.</p>`
}

/** Makes the header fields of a response, unfolded on demand. */
export function headOf({ headers }: Preview): Html {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return html`<details><summary>Header fields</summary><pre class="key" tabindex="0">${lines.join('\n')}</pre></details>`
}
