// Rules for the URL of a store and related settings.

import type { Reading } from '../../base/text/quantity.ts'
import { originUrl } from '../shape/host-rules.ts'
import { accept, certificates, matching } from '../shape/rules.ts'
import { formed, type Rule } from '../shape/shape.ts'

/** Accepts a store's URL; empty is null. No flaw quotes it: it may contain a password. */
export const storeUrl: Rule<string | null> = formed(readStoreUrl, {
  pattern: '^(?:$|sqlite:|rediss?(?:\\+sentinel|\\+cluster)?://)',
})

function readStoreUrl(text: string): Reading<string | null> {
  if (text === '') return { value: null }
  const [, scheme, kind = '', rest = ''] = /^(sqlite|rediss?(\+sentinel|\+cluster)?):(.*)$/s.exec(text) ?? []
  if (scheme === undefined) {
    return { flaw: 'must begin with sqlite:, redis://, rediss://, redis+sentinel:// or redis+cluster://' }
  }
  if (scheme === 'sqlite')
    return accept(isFile(rest) ? text : undefined, 'must be sqlite:PATH or sqlite::memory:')
  const { shown, pattern } = servers[kind]!
  return accept(isOfServers(rest, pattern) ? text : undefined, `must be ${scheme}://[USER:PASSWORD@]${shown}`)
}

/** Accepts certificates in PEM; empty text is null, so that a variable may be unset. */
export const storeCa: Rule<string | null> = text => (text === '' ? { value: null } : certificates(text))

/** Accepts a credential for Sentinels; empty is null. No message shows it. */
export const sentinelCredential: Rule<string | null> = text => (text === '' ? { value: null } : visible(text))

const visible = matching(/^[!-~]{1,512}$/, 'must be up to 512 visible ASCII characters, without spaces')

/** Two slashes would look like those before a host, and a trailing one like that of a folder. */
function isFile(rest: string): boolean {
  return rest === ':memory:' || /^(?!:|\/\/)[^?#\p{Cc}]+(?<!\/)$/u.test(rest)
}

interface Servers {
  readonly shown: string
  readonly pattern: RegExp // groups: the credentials and the hosts
}

const servers: Readonly<Record<string, Servers>> = {
  '': {
    shown: 'HOST[:PORT][/DATABASE]',
    pattern: /^\/\/(?:([^@/]*)@)?([^@/,]+)(?:\/\d{0,4})?$/,
  },
  '+sentinel': {
    shown: 'HOST[:PORT],HOST[:PORT]/NAME[/DATABASE]',
    pattern: /^\/\/(?:([^@/]*)@)?([^@/]+)\/[\w.-]+(?:\/\d{0,4})?$/,
  },
  '+cluster': {
    shown: 'HOST[:PORT],HOST[:PORT]',
    pattern: /^\/\/(?:([^@/]*)@)?([^@/]+)\/?$/,
  },
}

function isOfServers(rest: string, pattern: RegExp): boolean {
  const [match, credentials = '', hosts = ''] = pattern.exec(rest) ?? []
  if (match === undefined || !isEncoded(credentials)) return false
  return hosts.split(',').every(host => 'value' in originUrl(`http://${host}`))
}

/** Whether every character that a URL cannot contain is encoded as %XX, in UTF-8. */
function isEncoded(credentials: string): boolean {
  if (!/^[!-~]*$/.test(credentials) || /[?#[\]\\]/.test(credentials)) return false
  try {
    return decodeURIComponent(credentials) !== null
  } catch {
    return false
  }
}
