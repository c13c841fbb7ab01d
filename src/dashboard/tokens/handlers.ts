// Handlers of API tokens: the list, one of them, and what is done with it.

import { html } from '../../base/text/html.ts'
import { paths, withQuery } from '../page/paths.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import { apiPath } from '../page/api-client.ts'
import type { Ask, Handler } from '../page/page-request.ts'
import { done } from '../page/flash-messages.ts'
import { Draft } from '../parts/draft.ts'
import { nextStep, stepLink } from '../parts/next-step.ts'
import { isPicking, pickPreset, presetField } from '../parts/picker.ts'
import { bodyOf, permissionsIn, renamed } from './token-form.ts'
import type { PermissionGroup, Token } from './token.ts'
import { listView, newTokenView, revokeView, rollView, tokenView, valueView } from './views.ts'

export const showTokens: Handler = async ask => {
  const listed = await ask.api.get<Token[]>(tokensOf(ask), {
    page: ask.query.get('page'),
    direction: 'desc',
    include_expired: 'true',
  })
  if (!listed.ok) return listed
  return listView({
    account: ask.account.id,
    tokens: listed.result,
    info: listed.info!,
    query: ask.query,
    mayWrite: ask.may('API Tokens Write'),
    first: nextStep(
      ask,
      'API Tokens Write',
      html`${stepLink(paths.newToken(ask.account.id), 'Create a token')} <a href="${withQuery(paths.newToken(ask.account.id), { preset: 'models' })}">One that calls models</a>`,
    ),
  })
}

/** A preset may be named by the address. */
export const showNewToken: Handler = ask => {
  const preset = ask.query.get(presetField)
  return newToken(ask, new Draft(preset === null ? {} : { [presetField]: preset }))
}

export const createToken: Handler = async ask => {
  const draft = Draft.of(ask.form).compact('addresses')
  if (draft.isGrowing || isPicking(draft)) return newToken(ask, draft)
  const made = await ask.api.post<Token & { readonly value: string }>(
    tokensOf(ask),
    bodyOf(draft, ask.account.id),
    { idempotencyKey: draft.key },
  )
  if (!made.ok) {
    const refused = draft.refused(made, renamed)
    const isEmpty = permissionsIn(draft).length === 0
    return newToken(ask, isEmpty ? refused.withFault('permissions', 'Choose at least one.') : refused)
  }
  return valueView({ account: ask.account.id, token: made.result, value: made.result.value, isNew: true })
}

export const showToken: Handler = async ask => {
  const found = await ask.api.get<Token>(tokenOf(ask))
  if (!found.ok) return found
  return tokenView({ account: ask.account.id, token: found.result, mayWrite: ask.may('API Tokens Write') })
}

export const confirmRoll = confirming(rollView)

export const rollToken: Handler = async ask => {
  const found = await ask.api.get<Token>(tokenOf(ask))
  if (!found.ok) return found
  const { key } = Draft.of(ask.form)
  const rolled = await ask.api.put<string>(`${tokenOf(ask)}/value`, undefined, { idempotencyKey: key })
  if (!rolled.ok) return rolled
  return valueView({ account: ask.account.id, token: found.result, value: rolled.result, isNew: false })
}

export const confirmRevoke = confirming(revokeView)

export const revokeToken: Handler = async ask => {
  const revoked = await ask.api.delete(tokenOf(ask))
  return revoked.ok ? redirectTo(done(paths.tokens(ask.account.id), 'token-revoked')) : revoked
}

/** Makes a handler that shows a token and asks whether it is meant. */
function confirming(view: typeof rollView): Handler {
  return async ask => {
    const found = await ask.api.get<Token>(tokenOf(ask))
    if (!found.ok) return found
    const frame = ask.frameFor(ask.path)
    return view({ account: ask.account.id, token: found.result, frame, draft: new Draft() })
  }
}

async function newToken(ask: Ask, draft: Draft) {
  const groups = await ask.api.get<PermissionGroup[]>(`${tokensOf(ask)}/permission_groups`)
  if (!groups.ok) return groups
  return newTokenView({
    account: ask.account.id,
    groups: groups.result,
    frame: ask.frameFor(ask.path),
    draft: pickPermissions(draft, groups.result),
  })
}

/** Returns the draft with the permissions of its preset ticked, as far as the person may give them. */
export function pickPermissions(draft: Draft, groups: readonly PermissionGroup[]): Draft {
  const open = groups.filter(({ is_selectable }) => is_selectable)
  return pickPreset(draft, 'permissions', open)
}

/** Returns the path of the tokens of the account in the API. */
export function tokensOf({ account }: Ask): string {
  return apiPath('accounts', account.id, 'tokens')
}

/** Returns the path of the token of the page in the API. */
export function tokenOf({ account, params }: Ask): string {
  return apiPath('accounts', account.id, 'tokens', params.token!)
}
