// `gatehouse gateway create` and `gatehouse gateway set`, from options.

import { isDeepStrictEqual } from 'node:util'
import { changeAsRead, withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { complain, print, tell, tellDone } from '../../terminal/output.ts'
import { type Setting, settingNames } from './settings.ts'
import { gatewayIdFlaw, gateways, type ShownGateway, withGateway } from './gateways.ts'

export async function create(input: Input): Promise<number> {
  const [id = ''] = input.args
  const flaw = gatewayIdFlaw(id)
  if (flaw !== null) return complain(flaw)
  const settings = settingsOf(input)
  if (typeof settings === 'string') return complain(settings)
  return withApi(input, async api => {
    const { result } = await api.ask<ShownGateway>('POST', gateways, { body: { id, ...settings } })
    return tellDone(input, result, `Created the gateway ${id}. ${result.authentication ? closed : open}`)
  })
}

/** The API replaces all settings, so the options are merged into the gateway as just read. */
export async function set(input: Input): Promise<number> {
  const settings = settingsOf(input)
  if (typeof settings === 'string') return complain(settings)
  if (Object.keys(settings).length === 0)
    return complain('nothing to change; see gatehouse gateway set --help')
  return withGateway(input, async (api, path, id) => {
    const { before, after } = await changeAsRead<ShownGateway>(
      api,
      path,
      read => wholeOf(read, settings),
      'PUT',
    )
    const changed = settingNames.map(memberOf).filter(name => before[name] !== after[name])
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

type Settings = Readonly<Record<string, boolean | number | string>>

function wholeOf(read: ShownGateway, settings: Settings): unknown {
  const whole = { ...read, ...settings }
  return isDeepStrictEqual(whole, read) ? undefined : whole
}

function settingsOf(input: Input): Settings | string {
  const settings: Record<string, boolean | number | string> = {}
  for (const name of settingNames) {
    const text = input[name]
    if (text === undefined) continue
    const value = kinds[name](text)
    if (value === null) return `--${name} must be ${kinds[name] === flag ? 'on or off' : 'a whole number'}`
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

function flag(text: string): boolean | null {
  return text === 'on' ? true : text === 'off' ? false : null
}

function count(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

function word(text: string): string {
  return text
}

function constant(text: string): string {
  return text.toUpperCase().replaceAll('-', '_')
}

/** Readers for the text of each option; null for invalid text. */
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
  'stream-usage': flag,
} as const satisfies Readonly<Record<Setting, (text: string) => boolean | number | string | null>>
