// The rule for the URL of a store. Named by the schema.
import { originUrl } from './host-rules.ts'
import { accept } from './rules.ts'
import type { Rule } from './shape.ts'

/** Takes the URL of a store as it is; empty text is null. No message shows it, since it may hold a password. */
export const storeUrl: Rule<string | null> = text => {
  if (text === '') return { value: null }
  const [, scheme = ''] = /^(sqlite|rediss?|redis\+sentinel|redis\+cluster):/.exec(text) ?? []
  const form = forms[scheme]
  if (form === undefined) {
    return { flaw: 'must begin with sqlite:, redis://, rediss://, redis+sentinel:// or redis+cluster://' }
  }
  return accept(form.takes(text.slice(scheme.length + 1)) ? text : undefined, `must be ${form.shown}`)
}

interface Form {
  readonly shown: string
  readonly takes: (rest: string) => boolean
}

const one: Form['takes'] = rest => isServers(rest, /^\/\/(?:([^@/]*)@)?([^,@/]+)(?:\/\d{0,4})?$/)
const several: Form['takes'] = rest => isServers(rest, /^\/\/(?:([^@/]*)@)?([^@/]+)\/?$/)
const named: Form['takes'] = rest => isServers(rest, /^\/\/(?:([^@/]*)@)?([^@/]+)\/[\w.-]+(?:\/\d{0,4})?$/)

const credentials = '[USER:PASSWORD@]'
const forms: Readonly<Record<string, Form>> = {
  sqlite: {
    shown: 'sqlite:PATH or sqlite::memory:',
    takes: rest => rest === ':memory:' || /^(?!:|\/\/)[^?#\p{Cc}]+$/u.test(rest),
  },
  redis: { shown: `redis://${credentials}HOST[:PORT][/DATABASE]`, takes: one },
  rediss: { shown: `rediss://${credentials}HOST[:PORT][/DATABASE]`, takes: one },
  'redis+sentinel': {
    shown: `redis+sentinel://${credentials}HOST[:PORT],HOST[:PORT]…/NAME[/DATABASE]`,
    takes: named,
  },
  'redis+cluster': { shown: `redis+cluster://${credentials}HOST[:PORT],HOST[:PORT]…`, takes: several },
}

/** Tells whether the pattern finds credentials, if any, and hosts that are all good. */
function isServers(rest: string, pattern: RegExp): boolean {
  const [found, credentials = '', hosts = ''] = pattern.exec(rest) ?? []
  const areGood = hosts.split(',').every(host => 'value' in originUrl(`http://${host}`))
  return found !== undefined && areGood && isEncoded(credentials)
}

/** Tells whether credentials are written as a URL wants it: what is special stands as %XX. */
function isEncoded(credentials: string): boolean {
  return /^(?:[^%\s?#[\]\\]|%[\da-f]{2})*$/i.test(credentials) && /^[!-~]*$/.test(credentials)
}
