// Values of fields that have a grammar of their own.

import assert from 'node:assert/strict'
import { connectionOptions } from '../../../src/http1/fields/connection-options.ts'
import { parseForwarded } from '../../../src/http1/fields/forwarded.ts'
import { hostName } from '../../../src/http1/fields/host.ts'
import { retryAfterIn } from '../../../src/http1/fields/retry-after.ts'
import {
  parseTraceParent,
  parseTraceState,
  traceParentText,
} from '../../../src/http1/fields/trace-context.ts'
import type { Target } from '../target.ts'

function attempt(input: Buffer): void {
  const value = input.toString('latin1')
  const name = hostName(value)
  if (name !== null) {
    assert.match(name, /^[a-z0-9._:-]+$/)
    assert.equal(hostName(name.includes(':') ? `[${name}]` : name), name, 'a name is its own')
  }
  parseForwarded(value)
  connectionOptions(value)
  const wait = retryAfterIn(['Retry-After', value], 0)
  assert.ok(wait === null || wait >= 0)
  const parent = parseTraceParent(value)
  if (parent !== null) assert.deepEqual(parseTraceParent(traceParentText(parent)), parent)
  const state = parseTraceState(value)
  if (state !== null) assert.equal(parseTraceState(state), state)
}

export const target: Target = {
  seeds: [
    'for="[2001:db8::1]:47";proto=https, for=1.2.3.4;host=a',
    `00-${'1a'.repeat(16)}-${'2b'.repeat(8)}-01`,
    'a=b, c@d=e',
    'keep-alive, Upgrade, x-a',
    'A.Example.:443',
    '[::ffff:1.2.3.4]:80',
    'Fri, 31 Dec 1999 23:59:59 GMT',
    'Sun Nov  6 08:49:37 1994',
    '1.5',
  ],
  tokens: [
    'for=',
    'host=',
    'proto=',
    'by=',
    '"',
    '\\',
    ';',
    ',',
    ' ',
    '\t',
    '=',
    '[::1]',
    '1.2.3.4',
    '%25',
    ':80',
    '.',
    '-',
    '_',
    '00-',
    'ff-',
    '-01',
    'close',
    'keep-alive',
    'upgrade',
    'GMT',
    'Fri, ',
    ' 1999 ',
    '23:59:59',
  ],
  maxLength: 512,
  covers: ['src/http1/fields/', 'src/net/address/address.ts'],
  attempt,
}
