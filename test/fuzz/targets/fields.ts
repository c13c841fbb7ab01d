// Values of fields that have a grammar of their own.

import assert from 'node:assert/strict'
import { parseIfMatch } from '../../../src/admin/http/precondition.ts'
import { boundaryOf } from '../../../src/ai/parsing/multipart.ts'
import { contentCodings } from '../../../src/config/model/compression-config.ts'
import { acceptedCoding } from '../../../src/edge/encoding/accept-encoding.ts'
import { mediaTypeMatcher } from '../../../src/edge/encoding/media-types.ts'
import { negotiate, negotiateForPrograms } from '../../../src/errors/audience/negotiate.ts'
import { hasConnectionScheme } from '../../../src/http1/fields/connection-authentication.ts'
import { connectionOptions } from '../../../src/http1/fields/connection-options.ts'
import { parseForwarded } from '../../../src/http1/fields/forwarded.ts'
import { hostName } from '../../../src/http1/fields/host.ts'
import { retryAfterIn } from '../../../src/http1/fields/retry-after.ts'
import {
  parseTraceParent,
  parseTraceState,
  traceParentText,
} from '../../../src/http1/fields/trace-context.ts'
import { freshnessOf } from '../../../src/oauth/documents/freshness.ts'
import { bearerOf } from '../../../src/tokens/bearer.ts'
import { hasMisplacedToken } from '../../../src/tokens/misplaced-tokens.ts'
import { redacted } from '../../../src/tokens/redaction.ts'
import type { Target } from '../target.ts'

const codingOf = acceptedCoding(contentCodings)
const isText = mediaTypeMatcher(['text/*', 'application/*+json'])

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
  readMore(value)
}

/** None of these throws, or takes long. */
function readMore(value: string): void {
  codingOf(value)
  isText(value)
  boundaryOf(value)
  negotiate(value)
  negotiateForPrograms(value)
  parseIfMatch(value)
  hasConnectionScheme(value)
  hasMisplacedToken(value)
  const token = bearerOf(value)
  if (token !== null) assert.equal(bearerOf(`Bearer ${token}`), token)
  redacted(value)
  assert.ok(freshnessOf({ 'cache-control': value, age: value, expires: value }, 0) >= 0)
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
    'gzip;q=0.5, br;q=0, *',
    `${' ,'.repeat(24)}"`,
    'text/html;level=1;q=0.9, application/json, */*;q=0.1',
    'multipart/form-data; boundary="a"',
    'W/"a", "b"',
    'max-age=60, no-cache',
    `Bearer svct_${'a'.repeat(43)}`,
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
    ' ,',
    'gzip',
    ';q=0.5',
    '*/*',
    'text/',
    '+json',
    'W/"a"',
    'max-age=',
    'Basic ',
    'Bearer svct_',
    '%2573',
  ],
  maxLength: 512,
  covers: [
    'src/http1/fields/',
    'src/net/address/address.ts',
    'src/edge/encoding/accept-encoding.ts',
    'src/errors/audience/negotiate.ts',
    'src/oauth/documents/freshness.ts',
    'src/tokens/',
  ],
  attempt,
}
