// Handlers of API tokens: the list, a single token, and its actions.

import { html } from '../../base/text/html.ts'
import { paths, withQuery } from '../page/paths.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { Draft } from '../parts/draft.ts'
import { nextStep, stepLink } from '../parts/next-step.ts'
import { isPicking, pickPreset, presetField } from '../parts/picker.ts'
import { budgetsPart } from './budgets.ts'
import { tokenOf, tokensOf } from './page-data.ts'
import { bodyOf, lists, permissionsIn, renamed } from './token-form.ts'
import type { PermissionGroup, Token } from './token.ts'
import { listView, newTokenView, revokeView, rollView, tokenView, valueView } from './views.ts'

export const showTokens: Handler = async request => {
  const response = await request.api.get<Token[]>(tokensOf(request), {
    page: request.query.get('page'),
    direction: 'desc',
    include_expired: 'true',
  })
  return listView({
    account: request.account.id,
    tokens: response.result,
    info: response.info!,
    query: request.query,
    mayWrite: request.may('API Tokens Write'),
    first: nextStep(
      request,
      'API Tokens Write',
      html`${stepLink(paths.newToken(request.account.id), 'Create a token')} <a href="${withQuery(paths.newToken(request.account.id), { preset: 'models' })}">One that calls models</a>`,
    ),
  })
}

/** The address may name a preset. */
export const showNewToken: Handler = request => {
  const preset = request.query.get(presetField)
  return newToken(request, new Draft(preset === null ? {} : { [presetField]: preset }))
}

export const createToken: Handler = async request => {
  const draft = Draft.of(request.form).compact(...lists)
  if (draft.isGrowing || isPicking(draft)) return newToken(request, draft)
  const outcome = await request.api.post<Token & { readonly value: string }>(
    tokensOf(request),
    bodyOf(draft, request.account.id),
    { idempotencyKey: draft.key },
  )
  if (!outcome.ok) {
    const refused = draft.refused(outcome, renamed)
    const isEmpty = permissionsIn(draft).length === 0
    return newToken(request, isEmpty ? refused.withFault('permissions', 'Choose at least one.') : refused)
  }
  return valueView({
    account: request.account.id,
    token: outcome.result,
    value: outcome.result.value,
    isNew: true,
  })
}

export const showToken: Handler = async request => {
  const response = await request.api.get<Token>(tokenOf(request))
  return tokenView({
    account: request.account.id,
    token: response.result,
    mayWrite: request.may('API Tokens Write'),
    budgets: await budgetsPart(request, response.result),
  })
}

export const confirmRoll = confirming(rollView)

export const rollToken: Handler = async request => {
  const response = await request.api.get<Token>(tokenOf(request))
  const { key } = Draft.of(request.form)
  const rolled = await request.api.put<string>(`${tokenOf(request)}/value`, undefined, {
    idempotencyKey: key,
  })
  if (!rolled.ok) return rolled
  return valueView({
    account: request.account.id,
    token: response.result,
    value: rolled.result,
    isNew: false,
  })
}

export const confirmRevoke = confirming(revokeView)

export const revokeToken: Handler = async request => {
  const revoked = await request.api.delete(tokenOf(request))
  return revoked.ok ? redirectWith(paths.tokens(request.account.id), 'token-revoked') : revoked
}

function confirming(view: typeof rollView): Handler {
  return async request => {
    const response = await request.api.get<Token>(tokenOf(request))
    const frame = request.frameFor(request.path)
    return view({ account: request.account.id, token: response.result, frame, draft: new Draft() })
  }
}

async function newToken(request: PageRequest, draft: Draft) {
  const groups = await request.api.get<PermissionGroup[]>(`${tokensOf(request)}/permission_groups`)
  return newTokenView({
    account: request.account.id,
    groups: groups.result,
    frame: request.frameFor(request.path),
    draft: pickPermissions(draft, groups.result),
  })
}

/** Returns the draft with the permissions of its preset ticked, as far as the person may grant them. */
export function pickPermissions(draft: Draft, groups: readonly PermissionGroup[]): Draft {
  const open = groups.filter(({ is_selectable }) => is_selectable)
  return pickPreset(draft, 'permissions', open)
}
