// Rules for single values: from text to its meaning, or a phrase that says what it must be.

import { createPrivateKey } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { parseNetwork } from '../../net/address/address.ts'
import { normalPath } from '../../base/path/path.ts'
import { isReadAlike } from '../../base/path/path-readings.ts'
import {
  formatDuration,
  formatSize,
  parseByteRate,
  parseDuration,
  parseSize,
  type Reading,
} from '../../base/text/quantity.ts'
import { isCertificate, isEncrypted, pemBlocks, readPem, sortPem } from '../../tls/pem.ts'
import { readRevocationList } from '../../tls/revocation-list.ts'
import { parseSecretKey } from './secret-key.ts'
import { formed, type Rule } from './shape.ts'
import type { TextForm } from './value-schema.ts'
import { hintsForDurations, hintsForPaths, hintsForSizes, hintsForTruth } from './value-hints.ts'

const wholeNumber = /^\d{1,15}$/
const durationPattern = '^\\d+(?:ms|s|m|h|d)$'
const sizePattern = '^\\d+(?:B|[KMGT]iB|[kMG]B)$'

export function oneOf<const T extends string>(...words: readonly T[]): Rule<T> {
  const flaw = `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
  return formed(
    text =>
      accept(
        words.find(word => word === text),
        flaw,
      ),
    { words },
  )
}

/** Accepts a whole number, both ends included. */
export function whole(min: number, max: number): Rule<number> {
  const flaw = `must be a whole number from ${min} to ${max}`
  return formed(text => accept(within(readWhole(text), min, max), flaw), {
    pattern: wholeNumber.source,
    range: [min, max],
  })
}

/** Accepts a whole number, both ends included, or off, which is 0. */
export function wholeOrOff(min: number, max: number): Rule<number> {
  return orOff(whole(min, max))
}

/** Accepts a duration in ms, both ends included. */
export function duration(min: number, max: number): Rule<number> {
  return quantity(parseDuration, formatDuration, min, max, {
    pattern: durationPattern,
    hints: hintsForDurations,
  })
}

/** Accepts a duration in ms, both ends included, or off, which is 0. */
export function durationOrOff(min: number, max: number): Rule<number> {
  return orOff(duration(min, max))
}

/** Accepts a size in bytes, both ends included. */
export function size(min: number, max: number): Rule<number> {
  return quantity(parseSize, formatSize, min, max, { pattern: sizePattern, hints: hintsForSizes })
}

/** Accepts a rate in bytes per second, both ends included, or off, which is 0. */
export function byteRateOrOff(min: number, max: number): Rule<number> {
  const format = (bytes: number) => `${formatSize(bytes)}/s`
  return orOff(quantity(parseByteRate, format, min, max, { pattern: `${sizePattern.slice(0, -1)}/s$` }))
}

function quantity(
  parse: (text: string) => Reading<number>,
  format: (value: number) => string,
  min: number,
  max: number,
  form: TextForm,
): Rule<number> {
  const limits = `from ${format(min)} to ${format(max)}`
  const read = (text: string): Reading<number> => {
    const reading = parse(text)
    return 'flaw' in reading ? reading : accept(within(reading.value, min, max), `must be ${limits}`)
  }
  return formed(read, { ...form, limits }, format)
}

export const truth: Rule<boolean> = formed(
  text => {
    const isTrue = text === 'true' || text === 'on'
    const isFalse = text === 'false' || text === 'off'
    return accept(isTrue || isFalse ? isTrue : undefined, 'must be true or false (on and off are the same)')
  },
  { words: ['true', 'false', 'on', 'off'], hints: hintsForTruth },
)

interface StatusRange {
  readonly least: number
  readonly most: number
}

/** Accepts a status or a range of them, both ends included. */
export function statusRange(min: number, max: number, example: string): Rule<StatusRange> {
  const flaw = `must be a status from ${min} to ${max}, or a range of them, such as ${example}`
  return formed(
    text => {
      const [, from = '', to = from] = /^(\d{3})(?:-(\d{3}))?$/.exec(text) ?? []
      const first = within(readWhole(from), min, max)
      const last = within(readWhole(to), first ?? min, max)
      return accept(
        first === undefined || last === undefined ? undefined : { least: first, most: last },
        flaw,
      )
    },
    { pattern: '^\\d{3}(?:-\\d{3})?$', range: [min, max] },
    range => (range.least === range.most ? `${range.least}` : `${range.least}-${range.most}`),
  )
}

export const fraction = decimal(0, 1, 'must be a number from 0 to 1')

/** Accepts a number that may have a fraction, both ends included. */
export function decimal(min: number, max: number, flaw: string): Rule<number> {
  const form = { pattern: '^\\d+(?:\\.\\d+)?$', range: [min, max] } as const
  const pattern = new RegExp(form.pattern)
  return formed(text => accept(within(pattern.test(text) ? Number(text) : undefined, min, max), flaw), form)
}

/** Accepts a token (RFC 9110 section 5.6.2), as required for the pseudonym in Via and CDN-Loop. */
export const pseudonym = matching(/^[\w!#$%&'*+.^`|~-]{1,64}$/, 'must be 1 to 64 letters, digits and hyphens')

/** Accepts the name of a header, a token (RFC 9110 section 5.1) of at most 128 characters. */
export const headerName = matching(
  /^[\w!#$%&'*+.^`|~-]{1,128}$/,
  "must be the name of a header: letters, digits and !#$%&'*+-.^_`|~",
)

export const headerValue = matching(/^[ -~]{0,4096}$/, 'must be up to 4096 visible ASCII characters')

/** Accepts the name of a pool or a list. */
export const shortName = matching(
  /^[\w.-]{1,64}$/,
  'must be 1 to 64 letters, digits, dots, hyphens and underscores',
)

/** Accepts the name of a zone; some are reserved as metric labels. */
export const zoneName = matching(
  /^(?!(?:none|ai)$)[\w.:*-]{1,253}$/,
  'must be 1 to 253 letters, digits, dots, hyphens and underscores, and not "none" or "ai"',
)

export const accountId = matching(/^[0-9a-f]{32}$/, 'must be the id of an account: 32 lower-case hex digits')

/** Accepts the description of a rule. */
export const description = lineOfText(500)

/** Accepts one line of text for display, of at most so many characters. */
export function lineOfText(max: number): Rule<string> {
  const line = new RegExp(`^\\P{Cc}{1,${max}}$`, 'u')
  return matching(line, `must be one line of 1 to ${max} characters, without control characters`)
}

export const workerCount: Rule<number | 'auto'> = formed<number | 'auto'>(
  text =>
    text === 'auto'
      ? { value: text }
      : accept(within(readWhole(text), 0, 64), 'must be auto or a whole number from 0 to 64'),
  { words: ['auto'], pattern: wholeNumber.source, range: [0, 64] },
)

export const network: Rule<string> = formed(
  text =>
    accept(parseNetwork(text) ? text : undefined, 'must be an IP address or a network such as 10.0.0.0/8'),
  { pattern: '^[^/]*[.:][^/]*(?:/\\d+)?$' },
)

const previews = '/cdn-cgi/error'

/** Accepts a path prefix; those of error previews belong to the gateway on every zone. */
export const routePath: Rule<string> = formed(readRoutePath, {
  pattern: '^/[!"$->@-~]*$',
  hints: hintsForPaths,
})

function readRoutePath(text: string): Reading<string> {
  if (!/^\/[!-~]*$/.test(text) || /[?#]/.test(text)) {
    return { flaw: 'must begin with / and contain only visible ASCII characters, without ? or #' }
  }
  if (normalPath(text) !== text) {
    return {
      flaw: 'must be in normal form: no doubled slash, no . or .. segment, no needless percent-encoding',
    }
  }
  if (!isReadAlike(text))
    return {
      flaw: 'must not contain ;, a backslash, %23, %2F, %3B, %3F, %5C, an encoded control character, %20 at either end of a segment, a double-encoded % or %u: origins disagree on their meaning',
    }
  const isPreview = `${text}/`.startsWith(`${previews}/`)
  return accept(
    isPreview ? undefined : text,
    `must not be under ${previews}/, which is reserved for error previews`,
  )
}

/** Accepts an encryption key; empty is null, for an unset variable. No message shows it. */
export const secretKey: Rule<string | null> = text =>
  text === ''
    ? { value: null }
    : accept(
        parseSecretKey(text) ? text : undefined,
        'must be at least 32 random bytes in base64 or hex, such as from `openssl rand -base64 32`',
      )

/** Accepts certificates in PEM, each of which must be valid. */
export const certificates = pemOf(isCertificate, 'must be PEM certificates, such as file:ca.pem')

/** Accepts PEM certificates, perhaps with a private key. No message shows the key. */
export const certificatesWithKey: Rule<string> = text => {
  const { certificates, keys, others } = sortPem(text)
  if (certificates.length === 0 || !certificates.every(isCertificate))
    return { flaw: 'must be PEM certificates, such as file:ca.pem' }
  if (!readPem(text).isWhole) return { flaw: 'has a PEM block without its end' }
  if (others.length > 0) return { flaw: `must have certificates and a key alone, but has a ${others[0]}` }
  if (keys.length > 1) return { flaw: `has ${keys.length} private keys: leave the one of the certificate` }
  if (keys.some(isEncrypted)) return { flaw: `has a private key with a passphrase: ${decrypt}` }
  return accept(keys.every(isPrivateKey) ? text : undefined, 'has a private key that cannot be read')
}

const decrypt = 'write it without one, such as by `openssl pkey -in FILE`'

/** Accepts lists of revoked certificates (CRLs) in PEM, each of which must be valid. */
export const revocationLists = pemOf(
  isRevocationList,
  'must be PEM revocation lists, such as file:clients.crl',
)

function pemOf(isValid: (block: string) => boolean, flaw: string): Rule<string> {
  return text => {
    const blocks = pemBlocks(text)
    return accept(blocks.length > 0 && blocks.every(isValid) ? text : undefined, flaw)
  }
}

/** Accepts a private key in PEM, and perhaps certificates beside it. No message shows the key. */
export const privateKey: Rule<string> = text => {
  const { keys } = sortPem(text)
  if (keys.some(isEncrypted)) return { flaw: `has a passphrase: ${decrypt}` }
  if (keys.length > 1) return { flaw: `has ${keys.length} private keys: leave the one of the certificate` }
  return accept(
    isPrivateKey(text) ? text : undefined,
    'must be a PEM private key without a passphrase, such as file:client.key',
  )
}

/** Accepts text that matches a pattern. */
export function matching(pattern: RegExp, flaw: string): Rule<string> {
  return formed(text => accept(pattern.test(text) ? text : undefined, flaw), { pattern: pattern.source })
}

/** Returns the lower-case name in `header NAME`; undefined for any other text. */
export function readHeaderKey(text: string): string | undefined {
  const name = /^header +(\S+)$/.exec(text)?.[1]
  return name !== undefined && 'value' in headerName(name) ? name.toLowerCase() : undefined
}

/** Returns a reading with the value, or else with the flaw. */
export function accept<T>(value: T | undefined, flaw: string): Reading<T> {
  return value === undefined ? { flaw } : { value }
}

export function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined
}

export function readWhole(text: string): number | undefined {
  return wholeNumber.test(text) ? Number(text) : undefined
}

function orOff(rule: Rule<number>): Rule<number> {
  return formed(
    text => {
      const reading = text === 'off' ? { value: 0 } : rule(text)
      return 'flaw' in reading ? { flaw: `${reading.flaw}, or off` } : reading
    },
    { ...rule.form, words: ['off'] },
    value => (value === 0 ? 'off' : (rule.write?.(value) ?? `${value}`)),
  )
}

function isRevocationList(pem: string): boolean {
  if (!isReadable(() => createSecureContext({ crl: pem }))) return false
  const { thisUpdate, nextUpdate } = readRevocationList(pem)
  return !Number.isNaN(thisUpdate) && !Number.isNaN(nextUpdate)
}

function isPrivateKey(pem: string): boolean {
  return isReadable(() => createPrivateKey(pem))
}

function isReadable(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
