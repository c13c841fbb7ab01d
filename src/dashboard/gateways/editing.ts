// Editing the rate limits and logs of an AI gateway.

import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { draftForm } from '../parts/forms.ts'
import { crumbsOf, findGateway, gatewayOf, pageOf } from './page-data.ts'
import type { Gateway } from './gateway.ts'
import { settingFields, settingLabels, settingsOf, valuesOf } from './settings.ts'

export const showSettings: Handler = async request => {
  const response = await findGateway(request)
  return settingsView(request, new Draft({ ...valuesOf(response.result), [etagField]: response.etag ?? '' }))
}

export const changeSettings: Handler = async request => {
  const response = await findGateway(request)
  const draft = Draft.of(request.form)
  // The body replaces all settings.
  const body = { ...response.result, ...settingsOf(draft) }
  const changed = await request.api.put<Gateway>(gatewayOf(request), body, { ifMatch: draft.etag })
  if (changed.ok) return redirectWith(pageOf(request), 'gateway-changed')
  if (changed.status === 404) return changed
  if (changed.status === 412)
    return settingsView(request, draft.overtaken(shownOf(response.result), response.etag))
  return settingsView(request, draft.refused(changed))
}

/** Returns the current values of the fields, with words for the boxes. */
function shownOf(gateway: Gateway) {
  return { byok_only: '', collect_logs: '', stream_usage: '', ...valuesOf(gateway) }
}

function settingsView(request: PageRequest, draft: Draft): View {
  return {
    title: 'Settings',
    crumbs: crumbsOf(request, true),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: settingLabels,
        send: 'Save',
        cancel: pageOf(request),
      },
      settingFields(draft),
    ),
  }
}
