// A refusal stops a request, with the reason. Steps return one instead of throwing.

import { type ErrorName, errorRows, previews } from './catalogue.ts'

export interface Refusal {
  readonly error: ErrorName
  /** Seconds to wait; null keeps those of the row. */
  readonly retryAfter: number | null
  /** Retry advice for SDKs of AI providers (x-should-retry); null for that of the row. */
  readonly mayRetry: boolean | null
  /** The methods for the Allow header of a 405; null for those that the gateway passes on. */
  readonly allow: string | null
  /** The faults of the call, for callers of an API; empty if the row is enough. */
  readonly faults: readonly Fault[]
  /** The words for one case of a row whose code covers several; null for those of the row. */
  readonly wording: Wording | null
  /** For the log only: it never reaches the client. */
  readonly cause: unknown
}

/** The words for one case of an error; title, code and status remain those of the row. */
interface Wording {
  readonly heading: string
  readonly detail: string
  readonly guidance: string
  /** Whether they are specific to one request, so that nothing derived from them is cached for others. */
  readonly isOfRequest?: boolean
}

/** One mistake of a caller, as in the API envelope. */
export interface Fault {
  readonly code: number
  readonly message: string
  /** The member of the body that is at fault (RFC 6901); null for the request as a whole. */
  readonly pointer: string | null
  /** What else the protocol says of it. */
  readonly data?: object
}

export interface Facts {
  readonly retryAfter?: number
  readonly mayRetry?: boolean | null
  readonly allow?: string
  readonly faults?: readonly Fault[]
  readonly wording?: Wording
}

/** Makes a refusal; without a stack trace, since floods are refusals. */
export function refuse(error: ErrorName, facts: Facts = noFacts, cause: unknown = null): Refusal {
  const { retryAfter = null, mayRetry = null, allow = null, faults = noFaults, wording = null } = facts
  return { error, retryAfter, mayRetry, allow, faults, wording, cause }
}

/** Turns the code of a preview into its refusal, and any unknown code into `not_found`. */
export function refusalFor(code: string): Refusal {
  return refuse(nameByCode.get(code) ?? 'not_found')
}

/** Finds any error by its code, including those without a preview; null for an unknown code. */
export function errorNameOf(code: string): ErrorName | null {
  const names = Object.keys(errorRows) as ErrorName[]
  return names.find(name => String(errorRows[name].code) === code) ?? null
}

/** Seconds of Retry-After, a whole number from 1 up; null if a retry does not help. */
export function retryAfterOf(refusal: Refusal): number | null {
  const usual = errorRows[refusal.error].retryAfter
  if (usual === null || refusal.retryAfter === null || Number.isNaN(refusal.retryAfter)) return usual
  return Math.min(Math.max(Math.ceil(refusal.retryAfter), 1), maxWait)
}

const noFacts: Facts = {}
const noFaults: readonly Fault[] = []

/** The largest delta-seconds that every recipient can hold (RFC 9111, section 1.2.2). */
const maxWait = 2_147_483_647

const nameByCode: ReadonlyMap<string, ErrorName> = new Map(
  Object.entries(previews).map(([name, row]) => [String(row.code), name as ErrorName]),
)
