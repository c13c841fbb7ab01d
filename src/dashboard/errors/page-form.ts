// The form to upload or write an error page, with a preview before it is served.

import { html } from '../../base/text/html.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { areaField, fileField } from '../parts/fields.ts'
import { draftForm } from '../parts/forms.ts'
import { paths } from '../page/paths.ts'
import { type ErrorPage, findZone, previewOf, zoneCrumbs } from './page-data.ts'
import { pageOf, typeOf } from './error-pages.ts'
import type { PageType } from './page-types.ts'
import { frame, framed, framedText } from './sandbox.ts'

/** Maximum of characters of HTML in the form: pages of ours stay small. */
const maxShown = 30_000
const frameName = 'preview'
const labels = { file: 'File', html: 'HTML' } as const

export const showPageForm: Handler = async request => {
  const type = typeOf(request)
  await findZone(request)
  const page = await request.api.tryGet<ErrorPage>(pageOf(request))
  if (!page.ok && page.status !== 404) return page
  const now = page.ok ? (page.result.html ?? '') : ''
  const tag = { [etagField]: page.ok ? (page.etag ?? '') : '' }
  return formView(request, type, new Draft({ html: now.length > maxShown ? '' : now, ...tag }))
}

export const setPage: Handler = async request => {
  const type = typeOf(request)
  const zone = await findZone(request)
  const draft = Draft.of(request.form)
  const text = htmlIn(draft)
  if (text === '') return formView(request, type, draft.withFault('file', missing))
  const { file, ...values } = draft.values
  const input = file ? { ...values, html: file.length > maxShown ? '' : file } : values
  const overtaken = (tag: string | null) => formView(request, type, new Draft(input).overtaken({}, tag ?? ''))
  // The form of a missing page has no tag: one that exists now is somebody else's.
  const seen = draft.etag === '' ? { ifNoneMatch: '*' } : { ifMatch: draft.etag }
  const set = await request.api.putText(pageOf(request), text, 'text/html', seen)
  if (set.ok)
    return redirectWith(paths.errorPage(request.account.id, zone.result.id, type.type), 'error-page-set')
  if (set.status === 412) {
    const page = await request.api.tryGet<ErrorPage>(pageOf(request))
    return overtaken(page.ok ? page.etag : null)
  }
  const named = Object.fromEntries(Object.entries(set.faults).map(([, fault]) => ['/html', fault]))
  return formView(request, type, new Draft(input).refused({ ...set, faults: named }))
}

/** Shows the preview in a frame. */
export const frameDraft: Handler = async request => {
  const type = typeOf(request)
  const zone = await findZone(request)
  const text = htmlIn(Draft.of(request.form))
  if (text === '') return framedText(422, [missing])
  const preview = await previewOf(request.api, zone.result.id, {
    code: type.sample,
    accept: 'text/html',
    page: { type: type.type, html: text },
  })
  return framed(preview, request)
}

const missing = 'Choose a file, or write HTML.'

/** Returns the HTML of the file, or the text field without a file. */
function htmlIn(draft: Draft): string {
  return draft.value('file') || draft.value('html').trim()
}

function formView(request: PageRequest, type: PageType, draft: Draft): View {
  const zone = request.params.zone!
  return {
    title: `Set “${type.title}”`,
    crumbs: zoneCrumbs(request),
    hasFrames: true,
    status: draft.status,
    content: draftForm(
      {
        frame: { ...request.frameFor(request.path), hasFiles: true },
        draft,
        labels,
        send: 'Serve this page',
        cancel: paths.errorPage(request.account.id, zone, type.type),
      },
      html`${fileField(draft, {
        name: 'file',
        label: labels.file,
        hint: 'HTML in UTF-8, at most 1.5 MB, with all its styles and pictures in it.',
        accept: '.html,.htm,text/html',
        isOptional: true,
      })}${areaField(draft, {
        name: 'html',
        label: labels.html,
        hint: 'Or write it here; a file comes first. ::RAY_ID::, ::CLIENT_IP::, ::GEO::, ::SVC_ERROR_500S_BOX:: and ::SVC_ERROR_1000S_BOX:: are replaced by what they name. A page above 30,000 characters is not shown here.',
        rows: 10,
        isCode: true,
        isOptional: true,
      })}<div class="actions"><button class="plain" formaction="${request.path}/preview" formtarget="${frameName}" formnovalidate>Preview</button></div><p class="hint">Nothing is served before you say so. Scripts, forms, and what is loaded from elsewhere do not work in this frame.</p>${frame('What people would get', null, frameName)}`,
    ),
  }
}
