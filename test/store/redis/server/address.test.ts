import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Address, locationOf, parseAddress } from '../../../../src/store/redis/server/address.ts'
import { anyCharacter } from '../../../help/any-text.ts'

const plain: Address = {
  kind: 'server',
  hosts: [{ host: 'redis', port: 6379 }],
  name: '',
  db: 0,
  username: null,
  password: null,
  tls: false,
}

const read: readonly [url: string, expected: Partial<Address>, location: string][] = [
  ['redis://redis', {}, 'redis://redis:6379'],
  ['REDIS://redis/', {}, 'redis://redis:6379'],
  [
    'rediss://redis:6380/2',
    { tls: true, hosts: [{ host: 'redis', port: 6380 }], db: 2 },
    'rediss://redis:6380/2',
  ],
  ['redis://u:p@redis', { username: 'u', password: 'p' }, 'redis://redis:6379'],
  ['redis://:p%40%2F:s@redis', { password: 'p@/:s' }, 'redis://redis:6379'],
  ['redis://p@ss@redis', { username: 'p@ss' }, 'redis://redis:6379'],
  ['redis://[::1]:1', { hosts: [{ host: '::1', port: 1 }] }, 'redis://[::1]:1'],
  [
    'redis+sentinel://:p@a,b:1/main/3',
    {
      kind: 'sentinel',
      hosts: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 1 },
      ],
      name: 'main',
      db: 3,
      password: 'p',
    },
    'redis+sentinel://a:26379,b:1/main/3',
  ],
  [
    'rediss+cluster://a:7000,b:7001',
    {
      kind: 'cluster',
      hosts: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 7001 },
      ],
      tls: true,
    },
    'rediss+cluster://a:7000,b:7001',
  ],
]

for (const [url, expected, location] of read) {
  test(`${url} is read`, () => {
    const address = parseAddress(url)
    assert.deepEqual(address, { ...plain, ...expected })
    assert.equal(locationOf(address as Address), location)
  })
}

const refused: readonly [url: string, sentence: RegExp][] = [
  ['', /must begin with/],
  ['http://redis', /must begin with/],
  ['redis+other://redis', /must begin with/],
  ['redis://', /must name hosts/],
  ['redis://redis:0', /must name hosts/],
  ['redis://redis:65536', /must name hosts/],
  ['redis://a b', /must name hosts/],
  ['redis://a,b', /must name exactly one host/],
  ['redis+cluster://a,,b', /must name hosts/],
  ['redis://redis/x', /must be a number/],
  ['redis://redis/1/2', /must be a number/],
  ['redis+cluster://a/1', /must end with its hosts/],
  ['redis+sentinel://a', /must end with the name/],
  ['redis://redis?tls=1', /must not have a query/],
  ['redis://:s3cr#t@redis', /must not have a query/],
  ['redis://:s3cr%t@redis', /must be percent-encoded/],
]

for (const [url, sentence] of refused) {
  test(`${url || 'an empty URL'} is refused, without its secrets`, () => {
    const answer = parseAddress(url)
    assert.ok(typeof answer === 'string')
    assert.match(answer, sentence)
    assert.doesNotMatch(answer, /s3cr/)
  })
}

test('any text is read or refused, and what was read is located without its credentials', () => {
  const part = fc.string({ unit: anyCharacter, maxLength: 12 })
  const scheme = fc.constantFrom('redis://', 'rediss://', 'redis+sentinel://', 'redis+cluster://', '')
  const rest = fc.oneof(
    part,
    fc.tuple(part, part, part).map(([a, b, c]) => `${a}:${b}@${c}/main`),
  )
  fc.assert(
    fc.property(scheme, rest, (begin, end) => {
      const address = parseAddress(begin + end)
      if (typeof address === 'string') return
      const again = parseAddress(locationOf(address))
      assert.deepEqual(again, { ...address, username: null, password: null })
    }),
    { numRuns: 2_000 },
  )
})
