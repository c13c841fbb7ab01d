// Handlers of a fresh proof of who it is, before a risky change.

import { type Page, type PageResponse, redirectTo } from '../pages/parts/layout.ts'
import { throttledMessage } from '../pages/parts/throttled-message.ts'
import { leadingOn, paths } from '../pages/parts/paths.ts'
import { confirmPage, type Retry } from '../pages/views/sign-in.ts'
import { passkeysAt } from '../people/passkeys/passkeys.ts'
import type { People } from '../people/people.ts'
import {
  type Again,
  type Ask,
  fieldOf,
  type Handler,
  type Handlers,
  nextOf,
  signedIn,
  tokenFor,
} from './ask.ts'
import { partyOf, requestOptions } from './passkey-options.ts'
import { passkeyTroubles } from './passkey-troubles.ts'

export const toSignIn: Handler = async ask => redirectTo(leadingOn(paths.signIn, nextOf(ask)))

const show: Handler = async (ask, people) => confirm(ask, people)

const take: Handler = async (ask, people) => {
  if (ask.actor === null) return toSignIn(ask, people)
  const result = await people.signIn.confirm(ask.actor, fieldOf(ask, 'password'), ask.visit)
  people.metrics.signIn('confirm', result.outcome)
  switch (result.outcome) {
    case 'signed_in':
      return signedIn(ask, result.value, nextOf(ask))
    case 'refused':
      return confirm(ask, people, { faults: { password: 'The password is wrong.' }, status: 403 })
    case 'expired':
      return toSignIn(ask, people)
    case 'no_password':
      return confirm(ask, people)
    default:
      return confirm(ask, people, throttledMessage(result))
  }
}

const takePasskey: Handler = async (ask, people) => {
  const at = partyOf(ask)
  if (ask.actor === null || at === null) return toSignIn(ask, people)
  const shown = { response: fieldOf(ask, 'response'), at, browser: ask.secret }
  const result = await people.passkeys.confirm(ask.actor, shown, ask.visit)
  people.metrics.signIn('confirm', result.outcome)
  if (result.outcome === 'signed_in') return signedIn(ask, result.value, nextOf(ask))
  if (result.outcome === 'throttled') return confirm(ask, people, throttledMessage(result))
  return confirm(ask, people, { trouble: passkeyTroubles[result.outcome], status: 403 })
}

const again: Again = async (ask, people, retry) => confirm(ask, people, retry)

function confirm(ask: Ask, people: People, retry: Retry = {}): Page | PageResponse {
  const next = nextOf(ask)
  if (ask.actor === null) return redirectTo(leadingOn(paths.signIn, next))
  const { user } = ask.actor
  const at = partyOf(ask)
  const passkeys = at === null ? [] : passkeysAt(user, at.host)
  const hasPasskey = at !== null && passkeys.length > 0
  return confirmPage({
    ...retry,
    token: tokenFor(ask, paths.confirm),
    next,
    email: user.email,
    hasPassword: user.password !== null,
    provider: people.openId?.providerName ?? null,
    passkey: hasPasskey
      ? {
          token: tokenFor(ask, paths.confirmByPasskey),
          options: requestOptions(people.passkeys.challengeToConfirm(ask.secret), at, passkeys),
        }
      : null,
  })
}

export const confirmHandlers: readonly (readonly [string, Handlers])[] = [
  [paths.confirm, { show, take, again }],
  [paths.confirmByPasskey, { show: toSignIn, take: takePasskey, again }],
]
