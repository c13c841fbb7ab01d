// The switch of an Authenticated Gateway, and its consequences.

import { type Html, html } from '../../base/text/html.ts'
import { notice, isolated } from '../../pages/parts/components.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { confirmation } from '../parts/forms.ts'
import { time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { crumbsOf, findGateway, gatewayOf, pageOf } from './page-data.ts'
import type { Gateway } from './gateway.ts'

export const confirmAuthentication: Handler = request => switching(request, new Draft())

export const switchAuthentication: Handler = async request => {
  const response = await findGateway(request)
  const draft = Draft.of(request.form)
  const to = draft.value('to')
  // An ambiguous form opens nothing.
  if (to !== 'on' && to !== 'off') return switching(request, draft)
  const authentication = to === 'on'
  const body = { ...response.result, authentication }
  const changed = await request.api.put<Gateway>(gatewayOf(request), body, { ifMatch: draft.etag })
  if (changed.ok)
    return redirectWith(pageOf(request), authentication ? 'authentication-on' : 'authentication-off')
  return changed.status === 412 ? switching(request, draft.refused(changed)) : changed
}

async function switching(request: PageRequest, draft: Draft) {
  const [response, used] = await Promise.all([findGateway(request), lastUse(request)])
  const { authentication, id } = response.result
  const frame = request.frameFor(request.path)
  const parts = {
    frame: { ...frame, hidden: { to: authentication ? 'off' : 'on' } },
    draft: draft.with({ [etagField]: response.etag ?? '' }),
    cancel: pageOf(request),
  }
  return {
    title: authentication ? 'Switch authentication off?' : 'Switch authentication on?',
    crumbs: crumbsOf(request, true),
    status: draft.status,
    content: authentication
      ? confirmation({
          ...parts,
          what: html`<p>Anyone who reaches <b>${id}</b> can then call models at your cost, without a token. Tokens that callers send are not looked at.</p>`,
          send: 'Switch it off',
        })
      : html`${used.result.length === 0 && warning(request)}${confirmation({
          ...parts,
          what: html`<p>Calls to <b>${id}</b> without a valid token are refused with 401 within a second, and no provider is called.</p>${used.result.map(lastOf)}`,
          send: 'Switch it on',
        })}`,
  }
}

interface Use {
  readonly created_at: string
  readonly token_name: string | null
}

/** Requests the latest call with a token that was verified; while authentication is off, none is. */
function lastUse(request: PageRequest) {
  return request.api.get<readonly Use[]>(gatewayOf(request, 'logs'), {
    'filters.key': 'authentication',
    'filters.operator': 'eq',
    'filters.value': 'true',
    per_page: 1,
    max_scanned: 20_000,
  })
}

function lastOf({ created_at, token_name }: Use): Html {
  return html`<p>The latest call with a token was ${time(created_at)}${token_name !== null && html`, with ${isolated(token_name)}`}. Callers that send none since are refused.</p>`
}

function warning(request: PageRequest): Html {
  const { account, params } = request
  const mayCreate = request.may('API Tokens Write')
  return notice(
    html`<b>No token has been used here yet.</b> Every caller is refused until it sends one. First ${mayCreate ? html`<a href="${paths.newGatewayToken(account.id, params.gateway!)}">create a token</a>` : 'have a token created'}, have each caller send it, and then switch this on: with authentication off, calls that carry a token pass all the same. Their tokens are not looked at before, so this warning stays.`,
    'bad',
  )
}
