// The option for the guard of an AI gateway, and a guard in its words.

import { texts } from '../options.ts'

export const guarding = {
  guard: texts(
    'POLICY|on|off',
    'what the guard does: flag, redact or block, for some patterns or all: block=private_key,card_number, redact=*; only in one direction: block:request=*; repeatable, and replaces all policies',
  ),
}

export interface Guarding {
  readonly guard?: readonly string[]
}

interface WirePolicy {
  readonly id?: string
  readonly enabled?: boolean
  readonly action: string
  readonly check?: readonly string[]
  readonly profiles?: readonly string[]
}

/** Further members stay as they were read. */
export interface WireGuard {
  readonly enabled?: boolean
  readonly policies?: readonly WirePolicy[]
  readonly webhook?: { readonly url: string } | null
}

type Change = (guard: WireGuard | null) => WireGuard | null

/** Returns the change that the options make; null if there are none, and a sentence for a wrong one. */
export function guardOf({ guard = [] }: Guarding): Change | string | null {
  if (guard.length === 0) return null
  const [word] = guard
  if (guard.length === 1 && (word === 'on' || word === 'off'))
    return before => before && { ...before, enabled: word === 'on' }
  const policies: WirePolicy[] = []
  for (const text of guard) {
    const [, action, check, names] = /^(flag|redact|block)(?::(request|response))?=(\S+)$/.exec(text) ?? []
    if (action === undefined) return form
    policies.push({
      action: action.toUpperCase(),
      ...(check && { check: [check.toUpperCase()] }),
      profiles: names!.split(','),
    })
  }
  return before => ({ ...before, enabled: true, policies })
}

const form =
  '--guard must be on or off alone, or an action and patterns, such as block=private_key or redact:response=*'

export function guardInWords({ enabled = true, policies = [], webhook }: WireGuard): string {
  const words = policies
    .filter(({ enabled = true }) => enabled)
    .map(({ action, check = [], profiles = ['*'] }) => {
      const direction = check.length === 1 ? `:${check[0]!.toLowerCase()}` : ''
      return `${action.toLowerCase()}${direction}=${profiles.join(',')}`
    })
  if (webhook != null) words.push(`webhook=${webhook.url}`)
  return enabled && words.length > 0 ? words.join(' ') : 'off'
}
