// Editing an existing API token: its name, its rights, and whether it works.

import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { isPicking } from '../parts/picker.ts'
import { paths } from '../page/paths.ts'
import { pickPermissions } from './handlers.ts'
import { tokenOf, tokensOf } from './page-data.ts'
import { callsIn, endOf, lists, permissionsIn, policyOf, renamed } from './token-form.ts'
import type { PermissionGroup, Token } from './token.ts'
import { editTokenView, stateView } from './views.ts'

export const showEditToken: Handler = async request => {
  const response = await request.api.get<Token>(tokenOf(request))
  return edit(
    request,
    response.result,
    new Draft({ ...valuesOf(response.result), [etagField]: response.etag ?? '' }),
  )
}

export const changeToken: Handler = async request => {
  const response = await request.api.get<Token>(tokenOf(request))
  const token = response.result
  const draft = Draft.of(request.form).compact(...lists)
  if (draft.isGrowing || isPicking(draft)) return edit(request, token, draft)
  const changed = await request.api.put<Token>(
    tokenOf(request),
    changedBy(draft, token, request.account.id),
    {
      ifMatch: draft.etag,
    },
  )
  if (changed.ok) return redirectWith(paths.token(request.account.id, token.id), 'token-changed')
  if (changed.status === 412) {
    const { name, expires_on } = valuesOf(token)
    return edit(request, token, draft.overtaken({ name: name!, expires_on: expires_on! }, response.etag))
  }
  const refused = draft.refused(changed, renamed)
  const isEmpty = isSimple(token) && permissionsIn(draft).length === 0
  return edit(request, token, isEmpty ? refused.withFault('permissions', 'Choose at least one.') : refused)
}

export const confirmState: Handler = async request => {
  const response = await request.api.get<Token>(tokenOf(request))
  return state(request, response.result, new Draft({ [etagField]: response.etag ?? '' }))
}

export const switchState: Handler = async request => {
  const response = await request.api.get<Token>(tokenOf(request))
  const draft = Draft.of(request.form)
  const status = draft.value('to') === 'active' ? 'active' : 'disabled'
  const changed = await request.api.put<Token>(
    tokenOf(request),
    { ...response.result, status },
    { ifMatch: draft.etag },
  )
  if (changed.ok)
    return redirectWith(
      paths.token(request.account.id, response.result.id),
      status === 'active' ? 'token-enabled' : 'token-disabled',
    )
  if (changed.status === 404) return changed
  return state(request, response.result, draft.with({ [etagField]: response.etag ?? '' }).refused(changed))
}

/** Whether a token has the form that this page makes: one policy, which allows. */
function isSimple({ policies: [policy, ...others] }: Token): boolean {
  return policy?.effect === 'allow' && others.length === 0
}

function valuesOf(token: Token): Record<string, string> {
  const { policies, condition, expires_on, name } = token
  const groups = isSimple(token) ? policies[0]!.permission_groups : []
  const addresses = condition?.request_ip.in ?? []
  return {
    name,
    expires_on: expires_on?.slice(0, 10) ?? '',
    ...Object.fromEntries(groups.map(({ id }) => [`permissions.${id}`, 'on'])),
    ...itemsOf('addresses', addresses),
    ...itemsOf('gateways', token.gateways ?? []),
    ...itemsOf('models', token.models ?? []),
  }
}

function itemsOf(list: (typeof lists)[number], items: readonly string[]): Record<string, string> {
  return Object.fromEntries(items.map((item, i) => [`${list}.${i}`, item]))
}

function changedBy(draft: Draft, token: Token, account: string) {
  const { status, condition, expires_on, gateways, models, ...rest } = token
  const addresses = draft.list('addresses')
  const { not_in } = condition?.request_ip ?? {}
  const request_ip = { ...(addresses.length > 0 && { in: addresses }), ...(not_in && { not_in }) }
  const day = draft.value('expires_on')
  return {
    ...rest,
    name: draft.value('name'),
    ...(isSimple(token) && { policies: [policyOf(draft, account)] }),
    condition: { request_ip },
    ...callsIn(draft),
    // An unchanged day keeps its hour.
    ...(day !== '' && { expires_on: day === expires_on?.slice(0, 10) ? expires_on : endOf(day) }),
  }
}

async function edit(request: PageRequest, token: Token, draft: Draft) {
  const groups = await request.api.get<PermissionGroup[]>(`${tokensOf(request)}/permission_groups`)
  return editTokenView({
    account: request.account.id,
    token,
    groups: isSimple(token) ? groups.result : null,
    frame: request.frameFor(request.path),
    draft: pickPermissions(draft, groups.result),
  })
}

function state(request: PageRequest, token: Token, draft: Draft) {
  return stateView({ account: request.account.id, token, frame: request.frameFor(request.path), draft })
}
