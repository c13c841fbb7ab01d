// Handlers of two-step sign-in.

import { redirectTo } from '../pages/parts/layout.ts'
import { paths } from '../pages/parts/paths.ts'
import { enrolPage, recoveryCodesPage } from '../pages/views/account.ts'
import type { Retry } from '../pages/views/sign-in.ts'
import type { Actor } from '../people/sign-in/own-account.ts'
import type { People } from '../people/people.ts'
import { done, ofPerson, type PersonHandler, proveAgain } from './account.ts'
import { type Again, type Ask, fieldOf, type Handlers, tokenFor, withSession } from './ask.ts'

const begin: PersonHandler = async (_, actor, people) => {
  const { outcome } = await people.ownAccount.beginTotp(actor)
  if (outcome === 'stale') return proveAgain()
  return redirectTo(outcome === 'begun' ? paths.twoStep : paths.account)
}

const show: PersonHandler = async (ask, actor, people) => enrol(ask, actor, people)

const confirm: PersonHandler = async (ask, actor, people) => {
  const result = await people.ownAccount.confirmTotp(actor, fieldOf(ask, 'code'), ask.visit)
  if (result.outcome === 'stale') return proveAgain()
  if (result.outcome === 'confirmed')
    return withSession(ask, recoveryCodesPage(result.recoveryCodes), result.value)
  const code = 'This code is wrong. Codes change every 30 seconds.'
  return enrol(ask, actor, people, { faults: { code }, status: 403 })
}

const enrolAgain: Again = (ask, people, retry) =>
  ofPerson(async (_, actor) => enrol(ask, actor, people, retry))(ask, people)

function enrol(ask: Ask, actor: Actor, people: People, retry: Retry = {}) {
  const enrolment = people.ownAccount.pendingTotp(actor)
  if (enrolment === null) return redirectTo(paths.account)
  if ('outcome' in enrolment) return proveAgain()
  return enrolPage({ ...retry, ...enrolment, token: tokenFor(ask, paths.twoStepConfirm) })
}

const turnOff: PersonHandler = async (ask, actor, people) => {
  const { outcome } = await people.ownAccount.removeTotp(actor, ask.visit)
  return outcome === 'stale' ? proveAgain() : redirectTo(done('two_step_off'))
}

const renewCodes: PersonHandler = async (ask, actor, people) => {
  const result = await people.ownAccount.renewRecoveryCodes(actor, ask.visit)
  if (result.outcome === 'stale') return proveAgain()
  return result.outcome === 'confirmed' ? recoveryCodesPage(result.recoveryCodes) : redirectTo(paths.account)
}

const toAccount = async () => redirectTo(paths.account)

export const twoStepHandlers: readonly (readonly [string, Handlers])[] = [
  [paths.twoStep, { show: ofPerson(show), take: ofPerson(begin) }],
  [paths.twoStepConfirm, { show: toAccount, take: ofPerson(confirm), again: enrolAgain }],
  [paths.twoStepOff, { show: toAccount, take: ofPerson(turnOff) }],
  [paths.recoveryCodes, { show: toAccount, take: ofPerson(renewCodes) }],
]
