// The rate limits and logs of an AI gateway, to change.

import { redirectTo } from '../../pages/parts/layout.ts'
import type { Ask, Handler, View } from '../page/page-request.ts'
import { done } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { draftForm } from '../parts/forms.ts'
import { crumbsOf, findGateway, gatewayOf, pageOf } from './page-data.ts'
import type { Gateway } from './gateway.ts'
import { settingFields, settingLabels, settingsOf, valuesOf } from './settings.ts'

export const showSettings: Handler = async ask => {
  const found = await findGateway(ask)
  if (!found.ok) return found
  return settingsView(ask, new Draft({ ...valuesOf(found.result), [etagField]: found.etag ?? '' }))
}

export const changeSettings: Handler = async ask => {
  const found = await findGateway(ask)
  if (!found.ok) return found
  const draft = Draft.of(ask.form)
  // The body takes the place of all settings.
  const body = { ...found.result, ...settingsOf(draft) }
  const changed = await ask.api.put<Gateway>(gatewayOf(ask), body, { ifMatch: draft.etag })
  if (changed.ok) return redirectTo(done(pageOf(ask), 'gateway-changed'))
  if (changed.status === 404) return changed
  if (changed.status === 412) return settingsView(ask, draft.overtaken(shownOf(found.result), found.etag))
  return settingsView(ask, draft.refused(changed))
}

/** Returns what the fields hold now, with words for the boxes. */
function shownOf(gateway: Gateway) {
  return { collect_logs: '', stream_usage: '', ...valuesOf(gateway) }
}

function settingsView(ask: Ask, draft: Draft): View {
  return {
    title: 'Settings',
    crumbs: crumbsOf(ask, true),
    ...(draft.status !== undefined && { status: draft.status }),
    content: draftForm(
      {
        frame: ask.frameFor(ask.path),
        draft,
        labels: settingLabels,
        send: 'Save',
        cancel: pageOf(ask),
      },
      settingFields(draft),
    ),
  }
}
