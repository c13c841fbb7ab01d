// Targets of requests: the paths that origins may read in them, and those of AI calls.

import assert from 'node:assert/strict'
import {
  decodedPath,
  isPlainPath,
  normalPath,
  withoutQuery,
  withPlainDots,
} from '../../../src/base/path/path.ts'
import { isReadAlike, pathReadings } from '../../../src/base/path/path-readings.ts'
import { leads } from '../../../src/base/path/path.ts'
import { PathPrefixes } from '../../../src/base/path/path-prefixes.ts'
import { isAmongAiRoutes, parseAiTarget } from '../../../src/ai/target.ts'
import { isTargetByte } from '../../../src/http1/heads/target-bytes.ts'
import type { Target } from '../target.ts'

const prefixList = ['/a', '/a/b', '/admin/', '/']
const prefixes = new PathPrefixes(prefixList)

function attempt(input: Buffer): void {
  if (input[0] !== 0x2f || !input.every(byte => isTargetByte[byte] === 1)) return
  const target = input.toString('latin1')
  const normal = normalPath(target)
  assert.equal(normalPath(normal), normal, 'a normal path stays as it is')
  if (isPlainPath(target)) assert.equal(normal, withoutQuery(target))
  assert.equal(
    prefixes.lead(normal),
    prefixList.some(prefix => leads(prefix, normal)),
  )
  assertReadings(target)
  assertCall(target)
}

/** What the URL parser of browsers makes of a target is one of its readings. */
function assertReadings(target: string): void {
  const readings = pathReadings(target)
  assert.equal(isReadAlike(target), readings?.length === 1 && readings[0] === target)
  if (readings === null) return
  assert.equal(new Set(readings).size, readings.length)
  for (const reading of readings) assert.ok(reading.startsWith('/'), reading)
  // It writes other characters than those of ASCII in UTF-8.
  const url = /^[!-~]*$/.test(target) ? URL.parse(target, 'http://site.test') : null
  if (url === null) return
  const seen = withPlainDots(decodedPath(url.pathname))
  const paths = readings.map(reading => withPlainDots(withoutQuery(reading)))
  assert.ok(paths.includes(seen), `${seen} is not among ${paths.join(' ')}`)
}

function assertCall(target: string): void {
  const call = parseAiTarget(target)
  if (call === null) return
  if (call.api === 'native') {
    const start = `/v1/${call.account}/${call.gateway}/${call.provider}`
    assert.ok(call.path.startsWith('/'))
    assert.ok([start + call.path, start + call.path.slice(1)].includes(target))
  } else assert.ok(target.endsWith(call.query))
  if (call.account !== null) assert.ok(isAmongAiRoutes(target))
}

const account = '0123456789abcdef'.repeat(2)

export const target: Target = {
  seeds: [
    '/a/./b/../%2e%2E/c;d=e/%2f..%5cf?g=h',
    '//host/a%00b%253Fc%u0061%C0%AE',
    '/\\admin/%20x%0a/%23',
    `/v1/${account}/default/openai/v1/chat/completions?a`,
    `/v1/${account}/default/compat/v1/chat/completions`,
    `/client/v4/accounts/${account}/ai/run/%40cf/model%2Fx?a=b`,
    `/client/v4/accounts/${account}/ai/v1/models/a`,
    '/v1/v1/responses',
  ],
  tokens: [
    ...[
      '/',
      '//',
      '/./',
      '/../',
      '/..',
      '%2e',
      '%2E',
      '%2f',
      '%5c',
      '%3b',
      ';',
      ';a=b',
      '\\',
      '?',
      '%3F',
      '%23',
    ],
    ...[
      '%00',
      '%0a',
      '%0D',
      '%09',
      '%20',
      '%25',
      '%2525',
      '%u002f',
      '%u00',
      '%C0%AF',
      '%E0%80%AF',
      '%C3%A9',
      '%',
    ],
    ...[
      'admin',
      '.',
      '..',
      '@',
      ':',
      '\xe9',
      '/v1/',
      account,
      '/client/v4/accounts/',
      '/ai/',
      'run/',
      'models/',
    ],
    ...['compat', '/chat/completions', 'messages', 'count_tokens', 'embeddings', 'default/'],
  ],
  maxLength: 512,
  covers: ['src/base/path/', 'src/ai/target.ts'],
  attempt,
}
