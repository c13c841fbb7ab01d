// A token for calls to an AI gateway: it may run models and nothing else, and its value is shown once, with
// code that uses it.

import { html } from '../../base/text/html.ts'
import { button, form } from '../../pages/parts/components.ts'
import { permissionGroups } from '../../permissions/permission-groups.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { Draft } from '../parts/draft.ts'
import { textField } from '../parts/fields.ts'
import { draftForm } from '../parts/forms.ts'
import { codeBlock, shownOnce } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { crumbsOf, findGateway, pageOf } from './page-data.ts'
import { codeFor } from './gateway-page.ts'
import { tokenLine } from './snippets.ts'
import { tokenField } from './test-request.ts'

const runGroup = permissionGroups.find(({ name }) => name === 'AI Gateway Run')!.id

export const showNewToken: Handler = async request => {
  const response = await findGateway(request)
  return newToken(request, new Draft({ name: `gateway ${response.result.id}` }))
}

export const createToken: Handler = async request => {
  await findGateway(request)
  const draft = Draft.of(request.form)
  const day = draft.value('expires_on')
  const body = {
    name: draft.value('name'),
    policies: [
      {
        effect: 'allow',
        permission_groups: [{ id: runGroup }],
        resources: { [`svc.api.account.${request.account.id}`]: '*' },
      },
    ],
    ...(day !== '' && { expires_on: /^\d{4}-\d\d-\d\d$/.test(day) ? `${day}T23:59:59Z` : day }),
  }
  const outcome = await request.api.post<{ readonly value: string }>(
    apiPath('accounts', request.account.id, 'tokens'),
    body,
    { idempotencyKey: draft.key },
  )
  return outcome.ok ? valueView(request, outcome.result.value) : newToken(request, draft.refused(outcome))
}

function newToken(request: PageRequest, draft: Draft): View {
  return {
    title: 'Create an authentication token',
    crumbs: crumbsOf(request, true),
    status: draft.status,
    content: html`<p class="lead">It has the permission AI Gateway Run and no other: it calls models through the gateways of this account, and sees and changes nothing.</p>${draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: { name: 'Name', expires_on: 'Last day' },
        isOnce: true,
        send: 'Create the token',
        cancel: pageOf(request),
      },
      html`${textField(draft, {
        name: 'name',
        label: 'Name',
        hint: 'What calls with it: logs and charts show this name.',
        maxLength: 120,
        hasFocus: true,
      })}${textField(draft, {
        name: 'expires_on',
        label: 'Last day',
        type: 'date',
        hint: 'It expires when this day ends, UTC. Without one it never does.',
        isOptional: true,
      })}`,
    )}`,
  }
}

function valueView(request: PageRequest, value: string): View {
  return {
    title: 'Token created',
    crumbs: crumbsOf(request, true),
    content: html`${shownOnce('Value', value, 'Save the value now.')}
<section class="card" aria-labelledby="use"><h2 id="use">Use it</h2>${request.gatewayEndpoint !== null && codeBlock('In a shell, first', tokenLine(value))}${codeFor(request)}</section>${trial(request, value)}
<p class="aside"><a class="button" href="${pageOf(request)}">I have saved it</a></p>`,
  }
}

/** Offers to try the token at once. Its value is on this page anyway, and goes nowhere else. */
function trial(request: PageRequest, token: string) {
  if (request.gatewayEndpoint === null || !request.may('AI Gateway Run')) return null
  const frame = request.frameFor(paths.testGateway(request.account.id, request.params.gateway!))
  const { provider } = request.gatewayEndpoint
  const hidden = { [tokenField]: token, model: `${provider.name}/${provider.model}` }
  return html`<section class="card" aria-labelledby="try"><h2 id="try">Try it</h2><p>Sends “Say hello.” to <code>${hidden.model}</code> through the gateway.</p>${form({ ...frame, hidden }, button('Send a test request', 'plain'))}</section>`
}
