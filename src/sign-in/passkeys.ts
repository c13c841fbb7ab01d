// Handlers of the passkeys of a person's own account.

import { type Page, type PageResponse, redirectTo } from '../pages/parts/layout.ts'
import { leadingOn, paths } from '../pages/parts/paths.ts'
import { describeUserAgent } from '../pages/parts/user-agent.ts'
import { addPasskeyPage, recoveryCodesPage } from '../pages/views/account.ts'
import type { Retry } from '../pages/views/sign-in.ts'
import type { Actor } from '../people/sign-in/own-account.ts'
import type { People } from '../people/people.ts'
import { done, ofPerson, type PersonHandler, proveAgain } from './account.ts'
import { type Again, type Ask, fieldOf, type Handlers, tokenFor, withSession } from './ask.ts'
import { creationOptions, partyOf } from './passkey-options.ts'

const troubles = {
  refused: 'This passkey could not be added: it must ask for your fingerprint, face or PIN. Try another one.',
  expired: 'That took too long, or was done in another tab. Try again.',
  taken: 'This passkey was added before, or you have as many as can be. Nothing was changed.',
} as const

const show: PersonHandler = async (ask, actor, people) => adding(ask, actor, people)

const add: PersonHandler = async (ask, actor, people) => {
  const at = partyOf(ask)
  if (at === null) return redirectTo(paths.account)
  const shown = { response: fieldOf(ask, 'response'), at, browser: ask.secret }
  const named = { name: fieldOf(ask, 'name'), fallback: describeUserAgent(ask.visit.userAgent) }
  const result = await people.ownPasskeys.add(actor, { ...shown, ...named }, ask.visit)
  if (result.outcome === 'stale') return toConfirm
  if (result.outcome !== 'added')
    return adding(ask, actor, people, { trouble: troubles[result.outcome], status: 403 })
  const { recoveryCodes, begun } = result
  if (recoveryCodes === null || begun === null) return redirectTo(done('passkey_added'))
  return withSession(ask, recoveryCodesPage(recoveryCodes, done('passkey_added')), begun.value)
}

const addAgain: Again = (ask, people, retry) =>
  ofPerson(async (_, actor) => adding(ask, actor, people, retry))(ask, people)

function adding(ask: Ask, actor: Actor, people: People, retry: Retry = {}): Page | PageResponse {
  const at = partyOf(ask)
  const begun = at && people.ownPasskeys.begin(actor, at, ask.secret)
  if (begun?.outcome === 'stale') return toConfirm
  if (begun?.outcome !== 'begun') return redirectTo(paths.account)
  return addPasskeyPage({
    ...retry,
    token: tokenFor(ask, paths.passkeys),
    options: creationOptions(begun.challenge, at!, actor.user, begun.excluded),
    name: fieldOf(ask, 'name') || describeUserAgent(ask.visit.userAgent),
  })
}

const remove: PersonHandler = async (ask, actor, people) => {
  const { outcome } = await people.ownPasskeys.remove(actor, fieldOf(ask, 'passkey'), ask.visit)
  if (outcome === 'stale') return proveAgain()
  return redirectTo(outcome === 'removed' ? done('passkey_removed') : paths.account)
}

const toConfirm = redirectTo(leadingOn(paths.confirm, paths.passkeys))

export const passkeyHandlers: readonly (readonly [string, Handlers])[] = [
  [paths.passkeys, { show: ofPerson(show), take: ofPerson(add), again: addAgain }],
  [paths.passkeyRemove, { show: async () => redirectTo(paths.account), take: ofPerson(remove) }],
]
