// Rules for single AI settings: providers, keys, prices.

import type { Reading } from '../../base/text/quantity.ts'
import { baseUrl } from '../shape/base-url.ts'
import { didYouMean } from '../../base/text/nearest.ts'
import { accept, decimal, matching } from '../shape/rules.ts'
import { formed, type Rule } from '../shape/shape.ts'

/** Accepts the name of a known provider, or one that begins with custom-. */
export function providerName(names: readonly string[]): Rule<string> {
  const pattern = `^(?:${names.join('|')}|custom-[a-z0-9-]{1,57})$`
  return formed(read, { pattern })

  function read(text: string): Reading<string> {
    const isProvider = names.includes(text) || /^custom-[a-z0-9-]{1,57}$/.test(text)
    const rule = `must be ${names.join(', ')}, or custom- followed by 1 to 57 lower-case letters, digits and hyphens`
    return accept(isProvider ? text : undefined, `${rule}${didYouMean(text, names)}`)
  }
}

/** All require one at their public addresses; `url` is null for those. */
export function needsKey(name: string, url: string | null): boolean {
  return url === null && name !== 'ollama'
}

/** Returns what is wrong at the end of a provider's URL: a call's path, or its version twice. */
export function endFlaw(url: string): string | null {
  const [, path, version] =
    /(\/(?:chat\/completions|messages|responses|embeddings))$|(\/v1(?:beta)?)\2$/.exec(url) ?? []
  if (path !== undefined) return `ends in ${path}, which calls add themselves: leave that out`
  return version === undefined ? null : `ends in ${version} twice: leave one out`
}

/**
 * Returns a provider's URL as its calls extend it, whether or not it was written with the version: removed
 * where calls begin with it, and elsewhere added to a host alone.
 */
export function withVersion(name: string, speaks: 'openai' | 'anthropic', url: string): string {
  const added = speaks === 'anthropic' ? '/v1' : versions.get(name)
  if (added !== undefined) return url.endsWith(added) ? url.slice(0, -added.length) : url
  const isVersioned = name === 'openai' || name.startsWith('custom-')
  return isVersioned && /^https?:\/\/[^/]+$/.test(url) ? `${url}/v1` : url
}

/** Path prefixes of calls, of providers whose own address ends before the version. */
export const versions: ReadonlyMap<string, string> = new Map([
  ['anthropic', '/v1'],
  ['google-ai-studio', '/v1beta'],
  ['google-vertex-ai', '/v1'],
  ['mistral', '/v1'],
  ['ollama', '/v1'],
  ['openrouter', '/v1'],
])

/** The settings from which keys are made, of providers that have no lasting ones. */
const identitySettings: ReadonlyMap<string, string> = new Map([
  ['google-vertex-ai', 'service_account'],
  ['aws-bedrock', 'aws'],
])

/** Names the setting of a provider's keys, and the environment variables that it refers to. */
export function keySetting(name: string, variables: readonly string[]): string {
  const identity = identitySettings.get(name)
  if (identity !== undefined && variables.length === 0) return `ai.providers.${name}.${identity}`
  const setting = `ai.providers.${name}.keys`
  return variables.length === 0 ? setting : `${setting} (${[...new Set(variables)].join(', ')})`
}

/** Accepts a model as in log entries, provider/model; a * at its end matches any rest. */
export function pricedModel(names: readonly string[]): Rule<string> {
  const provider = providerName(names)
  const pattern = /^([^/]+)\/([!-)+-~]*\*?)$/
  return formed(read, { pattern: pattern.source })

  function read(text: string): Reading<string> {
    const [, name, model] = pattern.exec(text) ?? []
    if (name === undefined || !model) {
      return { flaw: 'must be PROVIDER/MODEL, such as openai/gpt-4o; it may end with *' }
    }
    const reading = provider(name)
    return 'flaw' in reading
      ? { flaw: `does not begin with a provider, which ${reading.flaw}` }
      : { value: text }
  }
}

/** Accepts the name of a model without its provider; each * matches any text. */
export const modelPattern = matching(
  /^[!-~]{1,256}$/,
  'must be the name of a model, such as llama3.2 or llama*: up to 256 visible ASCII characters',
)

export const providerUrl = baseUrl('https://llm.example/v1')

/** Accepts a key; empty is null, for an unset variable. No message shows the key. */
export const providerKey: Rule<string | null> = text => (text === '' ? { value: null } : visibleText(text))

const visibleText = matching(/^[!-~]{1,4096}$/, 'must be up to 4096 visible ASCII characters, without spaces')

/** Accepts what a browser sends as Origin (RFC 6454 section 6.1), also that of an app or extension, or *. */
export const corsOrigin: Rule<string> = formed(readOrigin, {
  pattern: '^(?:\\*|[a-z][a-z0-9+.-]*://[^/?#]+)$',
})

function readOrigin(text: string): Reading<string> {
  const isOrigin = /^https?:/.test(text) ? URL.parse(text)?.origin === text : appOrigin.test(text)
  return accept(
    isOrigin || text === '*' ? text : undefined,
    'must be *, or an origin as browsers write it, such as https://app.example or http://localhost:3000: in lower case, without a path or the usual port',
  )
}

const appOrigin = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::\d{1,5})?$/

/** Accepts the name of a resource, a location or a region, which becomes a label of a hostname. */
export const placeName = matching(
  /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
  'must be 1 to 63 lower-case letters, digits and hyphens, not beginning or ending with a hyphen',
)

const maxDollars = 1e6

export const usDollars = decimal(
  0,
  maxDollars,
  `must be an amount of US dollars from 0 to ${maxDollars}, such as 2.5`,
)
