import { deepEqual, equal, match } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { storeUrl } from '../../../src/config/settings/store-url.ts'
import { parseAddress } from '../../../src/store/redis/server/address.ts'

describe('a URL of a store', () => {
  for (const url of [
    'sqlite::memory:',
    'sqlite:gatehouse.db',
    'sqlite:./data/gatehouse.db',
    'sqlite:/var/lib/my data/gatehouse.db',
    'redis://redis.example',
    'redis://127.0.0.1:6379',
    'redis://127.0.0.1:6379/',
    'redis://[::1]:6379/2',
    'redis://:s3cret@redis.example/0',
    'rediss://user:s%40cret@redis.example:6380/15',
    'redis+sentinel://s1.example:26379,s2.example:26379,s3.example/main',
    'redis+sentinel://user:s3cret@s1.example/main/3',
    'rediss+sentinel://s1.example/main',
    'redis+cluster://10.0.0.1:7000,10.0.0.2:7000',
    'rediss+cluster://10.0.0.1',
    'redis+cluster://user:s3cret@[fd00::1]:7000/',
  ]) {
    test(`may be ${url}`, () => deepEqual(storeUrl(url), { value: url }))
  }

  test('that is empty is the file in the data folder', () => deepEqual(storeUrl(''), { value: null }))

  for (const [url, rule] of [
    ['gatehouse.db', /begin with sqlite:/],
    ['./gatehouse.db', /begin with sqlite:/],
    ['SQLITE:gatehouse.db', /begin with sqlite:/],
    ['http://redis.example', /begin with sqlite:/],
    ['redis+unix:///run/redis.sock', /begin with sqlite:/],
    ['sqlite:', /sqlite:PATH/],
    ['sqlite:memory:\n', /sqlite:PATH/],
    ['sqlite::memory', /sqlite:PATH/],
    ['sqlite://data/gatehouse.db', /sqlite:PATH/],
    ['sqlite:gatehouse.db?mode=ro', /sqlite:PATH/],
    ['sqlite:/', /sqlite:PATH or /],
    ['sqlite:/tmp/', /sqlite:PATH or /],
    ['redis:redis.example', /redis:\/\/\[USER:PASSWORD@\]HOST/],
    ['redis://', /redis:\/\//],
    ['redis:///0', /redis:\/\//],
    ['redis://redis.example:0', /redis:\/\//],
    ['redis://redis.example:65536', /redis:\/\//],
    ['redis://redis.example/zero', /redis:\/\//],
    ['redis://redis.example/0/1', /redis:\/\//],
    ['redis://redis.example?db=1', /redis:\/\//],
    ['redis://redis.example#1', /redis:\/\//],
    ['redis://a.example,b.example', /redis:\/\//],
    ['redis://user:p@ss@redis.example', /redis:\/\//],
    ['redis://user:p/ss@redis.example', /redis:\/\//],
    ['redis://user:100%@redis.example', /redis:\/\//],
    ['redis://user:pass word@redis.example', /redis:\/\//],
    ['redis://user:%ff@redis.example', /redis:\/\//],
    ['rediss://redis_.example.127.1', /rediss:\/\//],
    ['redis+sentinel://s1.example', /redis\+sentinel:\/\/.+\/NAME/],
    ['redis+sentinel://s1.example/', /NAME/],
    ['redis+sentinel://s1.example,/main', /NAME/],
    ['redis+sentinel://s1.example/main/x', /NAME/],
    ['redis+cluster://10.0.0.1:7000/1', /redis\+cluster:\/\//],
    ['redis+cluster://10.0.0.1:7000,,10.0.0.2', /redis\+cluster:\/\//],
  ] as const) {
    test(`cannot be ${JSON.stringify(url)}`, () => match(flawOf(url), rule))
  }

  test('stands in no flaw, whatever it is', () => {
    const scheme = fc.constantFrom(
      'sqlite:',
      'redis://',
      'rediss://',
      'redis+sentinel://',
      'redis+cluster://',
    )
    fc.assert(
      fc.property(scheme, fc.stringMatching(/^[!-~]{8,40}$/), (scheme, rest) => {
        const reading = storeUrl(`${scheme}${rest}\n`)
        equal('flaw' in reading && !reading.flaw.includes(rest), true)
      }),
    )
  })

  test('that is taken for Redis is one that its backend takes too', () => {
    const scheme = fc.constantFrom('redis', 'rediss', 'redis+sentinel', 'rediss+cluster')
    const part = fc.constantFrom(
      'a.example',
      '[::1]',
      '1.2.3.4',
      ':',
      ',',
      '@',
      '/',
      '%41',
      '%',
      'x',
      '7',
      '\\',
    )
    fc.assert(
      fc.property(scheme, fc.array(part, { minLength: 1, maxLength: 7 }), (scheme, parts) => {
        const url = `${scheme}://${parts.join('')}`
        if ('value' in storeUrl(url)) equal(typeof parseAddress(url), 'object', url)
      }),
      { numRuns: 2000 },
    )
  })
})

function flawOf(url: string): string {
  const reading = storeUrl(url)
  return 'flaw' in reading ? reading.flaw : ''
}
