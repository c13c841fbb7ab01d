// The documentation of one error, made from its row.

import { type ErrorCategory, type ErrorName, errorRows, isRaised } from '../catalogue/catalogue.ts'

export interface Entry {
  readonly code: number
  readonly name: ErrorName
  readonly title: string
  readonly status: number
  readonly category: ErrorCategory
  readonly retryable: boolean
  readonly retry_after?: number
  readonly owner_action_required: boolean
  /** False for an error that this version only previews. */
  readonly raised: boolean
  readonly cause: string
  readonly remedy: string
  readonly detail: string
  readonly what_you_should_do: string
}

/** Every error, by code. */
export const entries: readonly Entry[] = Object.keys(errorRows)
  .map(name => entryOf(name as ErrorName))
  .sort((a, b) => a.code - b.code)

/** Returns the facts of an error in the words that its documents share. */
export function factsOf(entry: Entry): readonly (readonly [label: string, fact: string])[] {
  return [
    ['Name', entry.name],
    ['HTTP status', String(entry.status)],
    ['Category', entry.category],
    ['Retry', entry.retry_after === undefined ? 'no' : `yes, after ${entry.retry_after} s`],
    ['Who must act', entry.owner_action_required ? 'the operator' : 'no one, or the client'],
    ['Raised', entry.raised ? 'by the gateway' : notRaised],
  ]
}

const notRaised = 'not by this version, only as a preview'

function entryOf(name: ErrorName): Entry {
  const { code, title, status, category, retryAfter, ...row } = errorRows[name]
  return {
    code,
    name,
    title,
    status,
    category,
    retryable: retryAfter !== null,
    ...(retryAfter !== null && { retry_after: retryAfter }),
    owner_action_required: row.ownerActionRequired,
    raised: isRaised(name),
    cause: row.cause,
    remedy: row.remedy,
    detail: row.detail,
    what_you_should_do: row.guidance.replaceAll('{retry_after}', String(retryAfter)),
  }
}
