// Schemas of budget alerts, in requests and in responses.

import {
  about,
  closed,
  flag,
  id,
  listOf,
  open,
  orNull,
  type Schema,
  setOf,
  text,
  time,
  whole,
} from '../schema/schema.ts'
import { maxShown } from './budget-alerts.ts'
import { maxUrlLength } from '../http/webhook-url.ts'
import { maxThreshold, maxThresholds } from './body.ts'

const url: Schema = { ...text, maxLength: maxUrlLength, pattern: '^https://[!-~]+$' }
const threshold = whole(1, maxThreshold)

export const newBudgetAlert = closed({
  url: about('https, at a public address; without a user, a password or a fragment.', url),
  thresholds: about('Percent of a limit.', setOf(threshold, 1, maxThresholds)),
})

const members = {
  id,
  url: text,
  thresholds: listOf(threshold),
  created_at: time,
  rotated_secret_until: about('How long the secret before signs too; null if none does.', orNull(time)),
  deliveries: about(
    'Of budgets that are above a threshold, the latest first.',
    listOf(
      open({
        id: about('As in `webhook-id`, the same at each attempt.', text),
        threshold,
        created_at: time,
        attempts: whole(0),
        next_attempt_at: about('Null once it was delivered, or given up.', orNull(time)),
        failure: about('Why the last attempt failed; null if none did.', orNull(text)),
      }),
      0,
      maxShown,
    ),
  ),
}

export const budgetAlert = open(members)

const secret: Schema = { ...text, pattern: '^whsec_[A-Za-z0-9+/]{43}=$' }

export const budgetAlertWithSecret = open({
  ...members,
  secret: about('Shown only once.', secret),
})

export const alertTest = open({
  delivered: flag,
  failure: about('Why it failed; null if it was accepted.', orNull(text)),
})
