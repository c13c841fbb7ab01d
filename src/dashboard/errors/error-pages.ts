// One kind of error page of a zone: its preview, and its removal.

import { html } from '../../base/text/html.ts'
import { facts, notice } from '../../pages/parts/components.ts'
import { apiPath, missing } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { confirmationPage, dangerZone } from '../parts/forms.ts'
import { time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { type ErrorPage, findZone, previewOf, sourcesInWords, zoneCrumbs } from './page-data.ts'
import { type PageType, pageTypeOf } from './page-types.ts'
import { alone, frame, framed } from './sandbox.ts'
import { sizeInWords } from './zone-page.ts'

export const showPage: Handler = async request => {
  const type = typeOf(request)
  const zone = await findZone(request)
  const [pages, preview] = await Promise.all([
    request.api.get<ErrorPage[]>(apiPath('zones', zone.result.id, 'error_pages')),
    previewOf(request.api, zone.result.id, { code: type.sample, accept: 'text/html' }),
  ])
  if (!preview.ok) return preview
  const page = pages.result.find(one => one.type === type.type) ?? null
  const { id } = request.account
  const mayWrite = request.may('Custom Errors Write')
  const { source } = preview.result
  return {
    title: type.title,
    crumbs: zoneCrumbs(request),
    hasFrames: true,
    ...(mayWrite && {
      actions: html`<a class="button" href="${paths.editErrorPage(id, zone.result.id, type.type)}">${page === null ? 'Upload a page' : 'Replace the page'}</a>`,
    }),
    content: html`<p class="lead">${type.text}</p>${source.endsWith('_rule') && notice('A rule decides this error before any page does.')}<div class="card">${facts(
      [
        ['Set here', page === null ? 'no' : html`${sizeInWords(page)}, ${time(page.modified_at)}`],
        ['In the file', zone.result.errors.file_pages.includes(type.type) ? 'yes' : 'no'],
      ],
    )}<h2>What people get now</h2><p class="hint">For error ${type.sample}, from ${sourcesInWords[source]}. Scripts, forms, and what is loaded from elsewhere do not work in this frame.</p>${frame(
      'The error page as it is served',
      request.framePathOf(paths.errorPagePreview(id, zone.result.id, type.type)),
    )}</div>${dangerZone(
      mayWrite && page !== null
        ? [
            {
              title: 'Remove',
              text: 'People get the page of the file or of Gatehouse again.',
              path: paths.deleteErrorPage(id, zone.result.id, type.type),
              link: 'Remove…',
            },
          ]
        : [],
    )}`,
  }
}

/** Shows the preview, for a frame. */
export const framePage: Handler = async request => {
  const type = typeOf(request)
  const zone = await findZone(request)
  if (request.isAlone) return alone(request, type.title, zoneCrumbs(request))
  const preview = await previewOf(request.api, zone.result.id, { code: type.sample, accept: 'text/html' })
  return framed(preview, request)
}

export const confirmPageRemoval: Handler = request => removal(request, new Draft())

async function removal(request: PageRequest, draft: Draft) {
  const type = typeOf(request)
  const zone = await findZone(request)
  const page = await request.api.get<ErrorPage>(pageOf(request))
  return confirmationPage({
    title: 'Remove this page?',
    crumbs: zoneCrumbs(request),
    frame: request.frameFor(request.path),
    draft: draft.with({ [etagField]: page.etag ?? '' }),
    what: html`<p>“${type.title}” of ${zone.result.id} is deleted, and people get the page of the file or of Gatehouse at once. This cannot be undone.</p>`,
    send: 'Remove the page',
    cancel: paths.errorPage(request.account.id, zone.result.id, type.type),
  })
}

export const removePage: Handler = async request => {
  const zone = await findZone(request)
  const draft = Draft.of(request.form)
  const removed = await request.api.delete(pageOf(request), { ifMatch: draft.etag })
  if (!removed.ok) return removed.status === 412 ? removal(request, draft.overtaken({}, null)) : removed
  return redirectWith(
    paths.errorPage(request.account.id, zone.result.id, request.params.type!),
    'error-page-removed',
  )
}

export function pageOf({ params }: PageRequest): string {
  return apiPath('zones', params.zone!, 'error_pages', params.type!)
}

export function typeOf({ params }: PageRequest): PageType {
  return pageTypeOf(params.type!) ?? missing()
}
