// The description of a row of the table of routes.

import { type ApiFaultName, apiFaults } from '../../errors/catalogue/api-faults.ts'
import type { HeaderName } from './headers.ts'
import { type Members, named, page, type Schema, success } from './schema.ts'

export interface Operation {
  readonly id: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** Whether a token is required; always known for rows of the API. */
  readonly hasToken?: boolean | 'maybe'
  readonly query?: Members
  readonly body?: Body
  readonly response: Good
  readonly refusals?: readonly Refusal[]
}

export interface Body {
  readonly schema: Schema
  readonly examples: Readonly<Record<string, unknown>>
}

interface Good {
  readonly content: Content
  readonly headers?: readonly HeaderName[]
}

/** Has a fault of one of the rows in the envelope, or content of its own. */
export interface Refusal {
  readonly status: number
  readonly description: string
  readonly faults: readonly ApiFaultName[]
  readonly content?: Content
  readonly headers?: readonly HeaderName[]
}

export type Content = Readonly<Record<string, Schema>>

export type Tag = (typeof tags)[number]['name']

export const tags = [
  {
    name: 'OAuth clients',
    description: 'Third-party applications that users authorize, and the scopes that these may request.',
  },
  { name: 'Members', description: 'Accounts, the people who work in them, and what their roles permit.' },
  {
    name: 'User',
    description:
      'The person for whom a token of OAuth acts: profile, memberships, sessions and connected apps.',
  },
  {
    name: 'OAuth grants',
    description: 'What users allowed OAuth clients to do, and what happened on the way.',
  },
  { name: 'API tokens', description: 'Who may use this API and the AI gateways, and for what.' },
  { name: 'AI gateways', description: 'Authentication, limits and logs of calls to models.' },
  {
    name: 'Dynamic routes',
    description: 'The ways of calls through models: by conditions, percentages, rates and fallbacks.',
  },
  { name: 'Policies', description: 'Who may call which models of an AI gateway, and for how much.' },
  {
    name: 'AI providers',
    description: 'The providers of models that the configuration has, and how they are doing.',
  },
  { name: 'AI gateway logs', description: 'The calls that went through an AI gateway.' },
  {
    name: 'Custom errors',
    description: 'The content that a zone serves instead of the standard errors: rules first, then pages.',
  },
  { name: 'Access rules', description: 'Who may access a zone: the first matching rule decides.' },
  {
    name: 'Zones',
    description: 'The sites that the gateway serves, as they are configured, and what happens in them.',
  },
  { name: 'Origins', description: 'Where requests of a zone go, and the state of these origins.' },
  { name: 'Audit logs', description: 'Who changed what, when and from where.' },
  { name: 'Gateway', description: 'Health, metrics and documentation of the gateway.' },
] as const

export function json(schema: Schema, headers: readonly HeaderName[] = []): Good {
  return { content: { 'application/json': schema }, headers }
}

/** Responds with a schema among the components of the document. */
export function one(name: string, headers?: readonly HeaderName[]): Good {
  return json(success(named(name)), headers)
}

export function many(name: string, headers?: readonly HeaderName[]): Good {
  return json(page(named(name)), headers)
}

/** Returns the operations of a part of the API, with its tag unless they have their own. */
export function tagged(
  tag: Tag,
  operations: Readonly<Record<string, Omit<Operation, 'tag'> & { readonly tag?: Tag }>>,
): Readonly<Record<string, Operation>> {
  return Object.fromEntries(Object.entries(operations).map(([key, value]) => [key, { tag, ...value }]))
}

export function refusal(name: ApiFaultName, headers: readonly HeaderName[] = []): Refusal {
  return { ...refusals([name], apiFaults[name].when), headers }
}

export function refusals(faults: readonly [ApiFaultName, ...ApiFaultName[]], description: string): Refusal {
  return { status: apiFaults[faults[0]].status, faults, description }
}
