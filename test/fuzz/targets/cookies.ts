// Cookies: those of our pages, and the same field without them.

import assert from 'node:assert/strict'
import { ownCookieIn, ownCookies, withoutOwnCookies } from '../../../src/http1/fields/own-cookies.ts'
import { readCookies } from '../../../src/pages/forms/cookies.ts'
import type { Target } from '../target.ts'

const names = Object.values(ownCookies).flatMap(name => [name, `__Host-${name}`, `__Secure-${name}`])

function attempt(input: Buffer): void {
  const value = input.toString('latin1')
  if (!/^[\t -~\x80-\xff]*$/.test(value)) return
  for (const isSecure of [false, true]) {
    const own = readCookies(value, isSecure)
    const others = withoutOwnCookies(value)
    // What we read ourselves must not reach an origin, in the reading of anybody.
    for (const name of names) assert.equal(others === null ? null : ownCookieIn([others], name), null)
    for (const [name, secret] of Object.entries(own)) {
      if (secret === null) continue
      assert.match(secret, /^[\w-]{43}(?:[\w-]{11})?$/)
      assert.ok(others === null || !pairsOf(others).some(([one]) => one === name || one === `__Host-${name}`))
    }
    if (others !== null) assert.equal(withoutOwnCookies(others), others, 'nothing is left to remove')
  }
}

/** As most servers split it. */
function pairsOf(field: string): readonly (readonly [string, string])[] {
  return field.split(';').map(pair => {
    const at = pair.indexOf('=')
    return [
      pair.slice(0, at === -1 ? pair.length : at).replaceAll(/^[ \t]+|[ \t]+$/g, ''),
      pair.slice(at + 1),
    ]
  })
}

const secret = 'a'.repeat(43)

export const target: Target = {
  seeds: [
    `a=b; gatehouse=${secret}; c="d"`,
    `__Host-gatehouse=${secret}; gatehouse-visit=x`,
    'a, gatehouse_consent; $Path="/"',
    `gatehouse-site=${secret}`,
    `gatehouse-site=${secret}${secret.slice(0, 11)}`,
  ],
  tokens: [
    ...names.map(name => `${name}=`),
    ...names,
    secret,
    ';',
    '; ',
    ',',
    '=',
    '"',
    ' ',
    '\t',
    '$Path=',
    '$Domain',
    'a=b',
    '\\"',
    '\x80',
  ],
  maxLength: 512,
  covers: ['src/http1/fields/own-cookies.ts', 'src/pages/forms/cookies.ts'],
  attempt,
}
