// An AI provider in the form of the management API, and in words.

import { type Html, html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest } from '../page/page-request.ts'
import { badge } from '../parts/lists.ts'
import { time } from '../parts/values.ts'

export interface Provider {
  readonly id: string
  readonly name: string
  readonly resource: string | null
  readonly is_configured: boolean
  readonly needs_key: boolean
  readonly origin?: string
  readonly state: keyof typeof states
  readonly processes: number
  readonly last_call_at: string | null
  readonly last_success_at: string | null
  readonly last_failure: ProviderFailure | null
  readonly keys: readonly ProviderKey[]
  readonly priced_models: readonly string[]
  readonly calls: {
    readonly since: string
    readonly count: number
    readonly errors: number
    readonly last_at: string | null
    readonly models: readonly {
      readonly model: string
      readonly count: number
      readonly last_at: string
    }[]
    readonly is_complete: boolean
  }
}

interface ProviderFailure {
  readonly at: string
  readonly status: number | null
  readonly error: string | null
  readonly message?: string
  readonly code?: string
  readonly in_a_row: number
}

interface ProviderKey {
  readonly number: number
  readonly resting_in: number
  readonly rests_until: string | null
  readonly rests_for_status: number | null
  readonly made?: {
    readonly expires_at: string | null
    readonly failing_in: number
    readonly failure?: string
  }
  readonly source?: { readonly type: keyof typeof sources; readonly name: string | null }
}

const states = {
  working: ['works', 'good', 'It takes calls.'],
  limited: ['at its limit', 'bad', 'It takes no more calls for now.'],
  refused: ['refuses the key', 'bad', 'It does not accept the key of the configuration.'],
  failing: ['fails', 'bad', 'The latest call failed.'],
  no_key: ['no key', '', 'Calls must bring a key of their own.'],
  unknown: ['not called yet', '', 'It was not called since the start: send a test.'],
} as const

const sources = {
  environment: 'variable',
  file: 'file',
  configuration: 'in the configuration',
} as const

/** Returns the path of the providers in the API. */
export function providersOf({ account }: Pick<PageRequest, 'account'>): string {
  return apiPath('accounts', account.id, 'ai-gateway', 'providers')
}

/** Returns its name in calls. */
export function nameOf({ name, resource }: Pick<Provider, 'name' | 'resource'>): string {
  return resource === null ? name : `${name}/${resource}`
}

export function stateBadge({ state }: Provider): Html {
  const [word, kind] = states[state]
  return badge(word, kind)
}

/** Returns a sentence about its health. */
export function stateInWords({ state }: Provider): string {
  return states[state][2]
}

/** Shows the source of a key; only that it is set, if the viewer may not see it. */
export function sourceOf({ source }: ProviderKey): Html {
  if (source === undefined) return html`set`
  const { type, name } = source
  return name === null ? html`${sources[type]}` : html`${sources[type]} <code>${isolated(name)}</code>`
}

/** Shows until when a key that is made is good, and why another could not be made. */
function madeInWords({ expires_at, failing_in, failure }: NonNullable<ProviderKey['made']>): Html {
  const until = html`made from an identity${expires_at !== null && html`, until ${time(expires_at)}`}`
  if (failing_in === 0) return html`${badge('in use', 'good')} ${until}`
  const state = expires_at === null ? badge('cannot be made', 'bad') : badge('cannot be renewed', 'bad')
  return html`${state} ${expires_at !== null && until}${failure !== undefined && html` <code>${isolated(failure)}</code>`}`
}

/** Shows whether a key rests, until when, and why; an only key is used even if it is refused. */
export function restOf(key: ProviderKey, { keys, processes, state }: Provider): Html {
  const { resting_in, rests_until, rests_for_status, made } = key
  if (made !== undefined && state !== 'refused') return madeInWords(made)
  if (resting_in === 0)
    return state === 'refused' && keys.length === 1 ? badge('refused', 'bad') : badge('in use', 'good')
  const why = rests_for_status === 401 ? 'was refused with 401' : 'is at its limit (429)'
  const where = resting_in < processes && html` in ${resting_in} of ${processes} processes`
  return html`${badge('rests', 'bad')} until ${time(rests_until)}${where}: it ${why}`
}

/** Shows how the latest failure happened. */
export function failureInWords({ status, error, message, code }: ProviderFailure): Html {
  if (status !== null) return html`status ${status}`
  return html`${message ?? 'No response came.'} <code>${error}</code>${code !== undefined && html` <code>${code}</code>`}`
}
