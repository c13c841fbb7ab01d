// A new AI gateway.

import { html } from '../../base/text/html.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft } from '../parts/draft.ts'
import { checkbox, textField } from '../parts/fields.ts'
import { draftForm } from '../parts/forms.ts'
import { paths } from '../page/paths.ts'
import { crumbsOf, gatewaysOf } from './page-data.ts'
import type { Gateway } from './gateway.ts'
import { settingFields, settingLabels, settingsOf, usual, valuesOf } from './settings.ts'

export const showNewGateway: Handler = async request =>
  newGateway(request, new Draft({ ...valuesOf(usual), authentication: 'on' }))

export const createGateway: Handler = async request => {
  const draft = Draft.of(request.form)
  const body = {
    id: draft.value('id').trim(),
    authentication: draft.has('authentication'),
    ...settingsOf(draft),
  }
  const outcome = await request.api.post<Gateway>(gatewaysOf(request), body)
  if (outcome.ok) return redirectWith(paths.gateway(request.account.id, outcome.result.id), 'gateway-created')
  if (outcome.status === 409)
    return newGateway(request, draft.withFault('id', 'A gateway of this account has this id.'))
  return newGateway(request, draft.refused(outcome))
}

function newGateway(request: PageRequest, draft: Draft): View {
  return {
    title: 'Create an AI gateway',
    crumbs: crumbsOf(request),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: { id: 'Id', authentication: 'Authenticated Gateway', ...settingLabels },
        send: 'Create the gateway',
        cancel: paths.gateways(request.account.id),
      },
      html`${textField(draft, {
        name: 'id',
        label: 'Id',
        hint: 'Part of the address of its calls: lower-case letters, digits, hyphens and underscores. It cannot be changed.',
        maxLength: 64,
        hasFocus: true,
      })}${checkbox(draft, {
        name: 'authentication',
        label: 'Authenticated Gateway',
        hint: 'Calls need a token with AI Gateway Run. Without it, anyone who reaches the gateway can call models at your cost.',
      })}${settingFields(draft)}`,
    ),
  }
}
