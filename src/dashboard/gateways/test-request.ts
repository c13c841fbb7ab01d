// One call to an AI gateway, sent as any client would, and the response as it came.

import { type Html, html } from '../../base/text/html.ts'
import { facts, notice } from '../../pages/parts/components.ts'
import { missing } from '../page/api-client.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import type { GatewayEndpoint, TestResponse } from '../page/gateway-endpoint.ts'
import { Draft } from '../parts/draft.ts'
import { secretField, textField } from '../parts/fields.ts'
import { draftForm } from '../parts/forms.ts'
import { badge } from '../parts/lists.ts'
import { bodyBlock } from '../parts/body.ts'
import { paths } from '../page/paths.ts'
import { crumbsOf, findGateway, pageOf } from './page-data.ts'

export const tokenField = 'proof.token'

export const showTest: Handler = async request => {
  await findGateway(request)
  const { provider } = request.gatewayEndpoint ?? missing()
  return testView(request, new Draft({ model: `${provider.name}/${provider.model}` }), null)
}

export const sendTest: Handler = async request => {
  await findGateway(request)
  const entrance = request.gatewayEndpoint ?? missing()
  const draft = Draft.of(request.form)
  const token = draft.value(tokenField).trim()
  const model = draft.value('model').trim()
  if (model === '' || model.length > 256)
    return testView(request, draft.withFault('model', 'Must have 1 to 256 characters.'), null)
  // A value of a header field.
  if (!/^[\x21-\x7e]{0,512}$/.test(token))
    return testView(request, draft.withFault(tokenField, 'Must be a token, without spaces in it.'), null)
  return testView(request, draft, await responseOf(entrance, callOf(request, model, token)))
}

function callOf({ account, params }: PageRequest, model: string, token: string) {
  return {
    path: `/client/v4/accounts/${account.id}/ai/v1/chat/completions`,
    headers: {
      'svc-aig-gateway-id': params.gateway!,
      ...(token !== '' && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ model, max_tokens: 64, messages: [{ role: 'user', content: 'Say hello.' }] }),
  }
}

async function responseOf(
  { send }: GatewayEndpoint,
  call: Parameters<GatewayEndpoint['send']>[0],
): Promise<TestResponse | string> {
  try {
    return await send(call)
  } catch (failure) {
    return (failure as Error).message
  }
}

function testView(request: PageRequest, draft: Draft, response: TestResponse | string | null): View {
  return {
    title: 'Test request',
    crumbs: crumbsOf(request, true),
    status: draft.status,
    content: html`${response !== null && shown(request, response)}<p class="lead">Sends “Say hello.” through the gateway, from this machine, like any client there: conditions on addresses see the address of this machine. The call appears in the logs, and the provider charges for it.</p>${draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: { model: 'Model', [tokenField]: 'Token' },
        send: response === null ? 'Send' : 'Send again',
        cancel: pageOf(request),
      },
      html`${textField(draft, {
        name: 'model',
        label: 'Model',
        hint: 'The provider, a slash, and its name of the model.',
        maxLength: 256,
      })}${secretField(draft, {
        name: tokenField,
        label: 'Token',
        hint: 'Leave it empty to see what callers without one get: 401, if authentication is on.',
        maxLength: 512,
        isOptional: true,
      })}`,
    )}`,
  }
}

function shown(request: PageRequest, response: TestResponse | string): Html {
  if (typeof response === 'string') return notice(response, 'bad')
  const { status, duration, ray, body, type } = response
  const isGood = status < 300
  return html`<section class="card" aria-labelledby="response"><h2 id="response">Response ${badge(String(status), isGood ? 'good' : 'bad')}</h2>${status === 401 && html`<p>The gateway refused the call: it had no valid token.</p>`}${facts(
    [
      ['Took', `${Math.round(duration)} ms`],
      ['Type', type],
      ['Ray', ray && html`<code>${ray}</code>`],
    ],
  )}${bodyBlock('Body', body)}<p>${
    status === 401
      ? html`Refused calls are not in the logs${request.may('Analytics Read') && html`, but among the <a href="${paths.errors(request.account.id)}">errors of the last day</a>`}.`
      : html`<a href="${paths.logs(request.account.id, request.params.gateway!)}">Logs of this gateway</a>`
  }</p></section>`
}
