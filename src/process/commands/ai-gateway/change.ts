// `gatehouse gateway create` and `gatehouse gateway set`, from options.

import { isDeepStrictEqual } from 'node:util'
import { changeAsRead, withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { complain, print, tell, tellDone } from '../../terminal/output.ts'
import { off, rulesOf, withRules } from '../spending.ts'
import { guardOf } from './guard.ts'
import { type Setting, settingNames } from './settings.ts'
import { gatewayIdFlaw, gateways, type ShownGateway, withGateway } from './gateways.ts'

export async function create(input: Input): Promise<number> {
  const [id = ''] = input.args
  const flaw = gatewayIdFlaw(id)
  if (flaw !== null) return complain(flaw)
  const settings = settingsOf(input)
  if (typeof settings === 'string') return complain(settings)
  const rules = rulesOf(input)
  if (typeof rules === 'string') return complain(rules)
  const guard = guardOf(input)
  if (typeof guard === 'string') return complain(guard)
  const limits = rules && { spend_limits: withRules(null, rules, input) }
  return withApi(input, async api => {
    const { result } = await api.ask<ShownGateway>('POST', gateways, {
      body: { id, ...settings, ...limits, ...(guard && { dlp: guard(null) }) },
    })
    return tellDone(input, result, `Created the gateway ${id}. ${result.authentication ? closed : open}`)
  })
}

/** The API replaces all settings, so the options are merged into the gateway as just read. */
export async function set(input: Input): Promise<number> {
  const settings = settingsOf(input)
  if (typeof settings === 'string') return complain(settings)
  const rules = rulesOf(input)
  if (typeof rules === 'string') return complain(rules)
  const guard = guardOf(input)
  if (typeof guard === 'string') return complain(guard)
  if (Object.keys(settings).length === 0 && rules === null && guard === null)
    return complain('nothing to change; see gatehouse gateway set --help')
  return withGateway(input, async (api, path, id) => {
    const { before, after } = await changeAsRead<ShownGateway>(
      api,
      path,
      read =>
        wholeOf(read, {
          ...settings,
          ...(rules && { spend_limits: withRules(read.spend_limits, rules, input) }),
          ...(guard && { dlp: guard(read.dlp) }),
        }),
      'PUT',
    )
    const members = [...settingNames.map(memberOf), 'spend_limits', 'dlp'] as const
    const changed = members.filter(name => !isDeepStrictEqual(before[name], after[name]))
    tell(
      changed.length === 0
        ? `Nothing changed: the gateway ${id} already has these settings.`
        : `Changed ${changed.join(', ')} of the gateway ${id}.`,
    )
    if (before.authentication && !after.authentication) tell(open)
    if (input.json) print(json(after))
    return 0
  })
}

const closed = 'Calls need an API token.'
const open = 'Anyone who can reach it may call it now, without a token.'

type Value = boolean | number | string | null
type Settings = Readonly<Record<string, Value>>

function wholeOf(read: ShownGateway, settings: object): unknown {
  const whole = { ...read, ...settings }
  return isDeepStrictEqual(whole, read) ? undefined : whole
}

function settingsOf(input: Input): Settings | string {
  const settings: Record<string, Value> = {}
  for (const name of settingNames) {
    const text = input[name]
    if (text === undefined) continue
    const value = kinds[name](text)
    if (value === undefined) return `--${name} must be ${forms.get(kinds[name])}`
    settings[memberOf(name)] = value
  }
  return settings
}

type Member<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}_${Member<Rest>}`
  : Name

function memberOf<Name extends Setting>(name: Name): Member<Name> {
  return name.replaceAll('-', '_') as Member<Name>
}

function flag(text: string): boolean | undefined {
  return text === 'on' ? true : text === 'off' ? false : undefined
}

function count(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function dollars(text: string): number | null | undefined {
  if (text === off) return null
  return /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined
}

function word(text: string): string {
  return text
}

function constant(text: string): string {
  return text.toUpperCase().replaceAll('-', '_')
}

type Reader = (text: string) => Value | undefined

/** What texts must be that can be invalid here; the API checks the others. */
const forms: ReadonlyMap<Reader, string> = new Map<Reader, string>([
  [flag, 'on or off'],
  [count, 'a whole number'],
  [dollars, 'an amount of USD such as 0.002, or off'],
])

/** Readers for the text of each option. */
const kinds = {
  authentication: flag,
  'collect-logs': flag,
  'log-management': count,
  'log-management-strategy': constant,
  'rate-limiting-limit': count,
  'rate-limiting-interval': count,
  'rate-limiting-technique': word,
  'rate-limiting-key': word,
  'retry-max-attempts': count,
  'retry-delay': count,
  'retry-backoff': word,
  'on-abandon': word,
  'default-max-tokens': count,
  'unpriced-cost': dollars,
  'cache-ttl': count,
  'cache-scope': word,
  'cache-invalidate-on-update': flag,
  'idempotency-keys': flag,
  'stream-usage': flag,
} as const satisfies Readonly<Record<Setting, Reader>>
