// What would happen to a request: the question, and the explanation above it.

import { html } from '../../base/text/html.ts'
import type { Explanation } from '../../zones/explanation.ts'
import type { Failure } from '../page/api-client.ts'
import type { PageRequest } from '../page/page-request.ts'
import { Draft } from '../parts/draft.ts'
import { areaField, textField } from '../parts/fields.ts'
import { draftForm } from '../parts/forms.ts'
import { crumbsOf, inZone, tabsOf, zoneOf } from './page-data.ts'
import { explanationView } from './explanation.ts'
import type { Zone } from './zone.ts'

/** Shows the form; an address can fill in the fields that are no secret: host, path, method and address. */
export const showExplain = inZone(async (request, zone) => {
  const given = (name: string, usual: string) => request.query.get(name) ?? usual
  const draft = new Draft({
    host: given('host', usualHost(zone)),
    path: given('path', '/'),
    method: given('method', 'GET'),
    address: given('address', request.client.address),
  })
  return explainView(request, zone, draft, null)
})

/**
 * Changes nothing: it is a form of POST since header fields may be secrets, which must not be part of an
 * address.
 */
export const explain = inZone(async (request, zone) => {
  const draft = Draft.of(request.form)
  const headers = headersIn(draft.value('headers'))
  if (headers === null)
    return explainView(request, zone, draft.withFault('headers', 'Write name: value on each line.'), null)
  const size = draft.value('body_size').trim()
  const certificate = draft.value('client_certificate').trim()
  const explained = await request.api.post<Explanation>(zoneOf(request, 'explain'), {
    host: draft.value('host').trim(),
    path: draft.value('path'),
    method: draft.value('method').trim(),
    address: draft.value('address').trim(),
    headers,
    ...(draft.value('body') !== '' && { body: draft.value('body') }),
    ...(certificate !== '' && { client_certificate: certificate }),
    ...(size !== '' && { body_size: /^\d{1,13}$/.test(size) ? Number(size) : size }),
  })
  if (explained.ok) return explainView(request, zone, draft, explained.result)
  return explainView(request, zone, refused(draft, explained), null)
})

/** Returns the draft with its faults; that of a header field by its name. */
function refused(draft: Draft, failure: Failure): Draft {
  const faults = Object.entries(failure.faults).map(([pointer, sentence]) => {
    const name = /^\/headers\/(.+)$/.exec(pointer)?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~')
    const isNamed = name === undefined || sentence.includes(name)
    return [pointer, isNamed ? sentence : `${name}: ${sentence}`]
  })
  return draft.refused({ ...failure, faults: Object.fromEntries(faults) }, { '/headers': 'headers' })
}

/** Reads `name: value` lines; null if one is invalid. */
function headersIn(text: string): Readonly<Record<string, readonly string[]>> | null {
  const headers: Record<string, string[]> = Object.create(null)
  for (const line of text.split('\n').filter(line => line.trim() !== '')) {
    const colon = line.indexOf(':')
    if (colon < 1) return null
    const name = line.slice(0, colon)
    headers[name] ??= []
    headers[name].push(line.slice(colon + 1).trim())
  }
  return headers
}

function usualHost({ hosts }: Zone): string {
  const exact = hosts.find(host => !host.startsWith('*.'))
  return exact ?? hosts[0]?.replace('*', 'www') ?? ''
}

const labels = {
  host: 'Host',
  path: 'Path',
  method: 'Method',
  address: 'Client address',
  headers: 'Header fields',
  body: 'Body',
  body_size: 'Size of the body',
  client_certificate: 'Client certificate',
} as const

function explainView(request: PageRequest, zone: Zone, draft: Draft, explanation: Explanation | null) {
  const hasMore = ['body', 'body_size', 'client_certificate'].some(
    name => draft.value(name) !== '' || draft.fault(name),
  )
  const fields = html`<div class="pair">${[
    textField(draft, { name: 'method', label: labels.method, maxLength: 64 }),
    textField(draft, { name: 'host', label: labels.host, maxLength: 255 }),
    textField(draft, { name: 'address', label: labels.address, maxLength: 64 }),
  ]}</div>${textField(draft, {
    name: 'path',
    label: labels.path,
    hint: 'With its query, as in /search?q=shoes.',
    maxLength: 65_536,
  })}${areaField(draft, {
    name: 'headers',
    label: labels.headers,
    hint: 'As in User-Agent: curl/8.0, one on each line. Tokens are used to decide, and kept nowhere.',
    rows: 3,
    isCode: true,
    isOptional: true,
  })}<details class="more"${hasMore && html` open`}><summary>Body and client certificate</summary><div class="more-fields">${[
    areaField(draft, {
      name: 'body',
      label: labels.body,
      hint: 'AI calls name their model in it.',
      isCode: true,
      isOptional: true,
    }),
    textField(draft, {
      name: 'body_size',
      label: labels.body_size,
      hint: 'In bytes, in place of the body itself.',
      type: 'number',
      minimum: 0,
      isOptional: true,
    }),
    areaField(draft, {
      name: 'client_certificate',
      label: labels.client_certificate,
      hint: 'In PEM, taken for one that the zone accepts.',
      isCode: true,
      isOptional: true,
    }),
  ]}</div></details>`
  return {
    title: 'What would happen to this request?',
    crumbs: crumbsOf(request, zone),
    isWide: true,
    status: draft.status,
    ...(explanation !== null && {
      actions: html`<a class="button plain" href="#method">Change the request</a>`,
    }),
    content: html`${tabsOf(request, zone)}${
      explanation === null
        ? html`<p class="aside">The gateway decides as on any request, but nothing is sent, counted or logged.</p>`
        : explanationView(request, zone, explanation)
    }${draftForm({ frame: request.frameFor(request.path), draft, labels, send: 'Explain' }, fields)}`,
  }
}
