// Whose calls a policy is about: everybody's, those of one identity, or of each identity of a kind.

import type { CallFacts, Caller } from '../buckets.ts'

/**
 * Returns the value of the identity of a call, which has a budget of its own; null if the policy is about all
 * calls, and `other` about those of others. `unknown`: the call has no such identity, or does not prove it.
 */
export type ActorOf = (call: CallFacts, caller: Caller) => ActorMatch
export type ActorMatch = { readonly value: string | null } | 'other' | 'unknown'

interface Actor {
  /** Where the values come from: those of other sources are others, even if they are spelled the same. */
  readonly source: string
  readonly of: ActorOf
}

/** Such as `user:{svc.user.id}`, `token:` and an id, `team:{metadata.team}`. */
const form = /^(?<kind>user|app|token|team):(?<whose>.+)$/su
const template = /^\{(?<source>[^{}]+)\}$/su
const maxLength = 320
const prefix = 'metadata.'
const maxNameLength = 100

const verified = {
  user: ({ user }) => user,
  app: ({ app }) => app,
  token: ({ token }) => token,
} as const satisfies Readonly<Record<string, (caller: Caller) => string | null>>

type Verified = keyof typeof verified

/** Returns the flaw, in words that follow the name of the member, if the text is no actor. */
export function readActor(text: string): Actor | string {
  if (text === '*') return { source: '*', of: () => everybody }
  if (text.length > maxLength) return `must have at most ${maxLength} characters`
  const { kind, whose } = form.exec(text)?.groups ?? {}
  if (kind === undefined || whose === undefined || unprintable.test(whose)) return actorFlaw
  const named = template.exec(whose)?.groups?.source
  if (named !== undefined) return readTemplate(kind, named)
  if (/[{}]/.test(whose)) return actorFlaw
  return kind === 'team' ? teamNamed(whose) : identityNamed(kind as Verified, whose)
}

const everybody: ActorMatch = { value: null }
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
const actorFlaw =
  'must be *, or user:, app:, token: or team: with an id, a name or a template, such as user:{svc.user.id}'

function readTemplate(kind: string, source: string): Actor | string {
  if (source.startsWith(prefix)) {
    const name = source.slice(prefix.length)
    const isName = name !== '' && name.length <= maxNameLength
    return isName ? { source, of: call => matchOf(metadataOf(call, name)) } : actorFlaw
  }
  const own = kind === 'team' ? '{metadata.NAME}' : `{svc.${kind}.id} or {metadata.NAME}`
  if (kind === 'team' || source !== `svc.${kind}.id`) return `must have ${own} as its template`
  const identity = verified[kind as Verified]
  return { source, of: (_, caller) => matchOf(identity(caller)) }
}

function matchOf(value: string | null): ActorMatch {
  return value === null ? 'unknown' : { value }
}

function teamNamed(team: string): Actor {
  const match = { value: team }
  const of: ActorOf = call => {
    const value = metadataOf(call, 'team')
    return value === null ? 'unknown' : value === team ? match : 'other'
  }
  return { source: `${prefix}team`, of }
}

/** A call with a token proves who makes it; one without could be anybody's. */
function identityNamed(kind: Verified, whose: string): Actor {
  const email = kind === 'user' ? whose.toLowerCase() : null
  const of: ActorOf = (_, caller) => {
    const value = verified[kind](caller)
    if (value !== null && (value === whose || (email !== null && caller.email === email))) return { value }
    return caller.token === null ? 'unknown' : 'other'
  }
  return { source: `svc.${kind}.id`, of }
}

/** An empty text names nobody. */
function metadataOf({ metadata }: CallFacts, name: string): string | null {
  if (metadata === null || !Object.hasOwn(metadata, name)) return null
  const value = metadata[name]!
  return value === null || value === '' ? null : String(value)
}
