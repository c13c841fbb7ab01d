import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { decodedPath, isPlainPath, normalPath } from '../../../src/base/path/path.ts'
import { isReadAlike, pathReadings } from '../../../src/base/path/path-readings.ts'
import { thorough } from '../../help/thorough.ts'

describe('pathReadings', () => {
  const readings: readonly [target: string, ...readings: string[]][] = [
    ['/', '/'],
    ['*', '/'],
    ['/a/b?c%2fd;e', '/a/b?c%2fd;e'],
    ['/%61/b?c%2fd', '/a/b'],
    ['/a%20b', '/a%20b'],
    ['/.well-known/%61', '/.well-known/a'],
    // Dot segments are resolved, or kept.
    ['/a/../b?c', '/b', '/a/../b'],
    ['/a/%2e%2E/b', '/b', '/a/../b'],
    // Those that are not encoded are resolved before the others are decoded.
    ['/x/../a/%2e%2e/c', '/c', '/x/../a/../c', '/a/../c'],
    ['/a/b%2f../../c', '/a/c', '/a/b%2F../../c', '/a/b/../../c', '/c'],
    // Empty segments are joined, or resolved like others.
    ['/a//b', '/a/b', '/a//b'],
    ['/admin//../users', '/users', '/admin//../users', '/admin/users', '/admin/../users'],
    // What follows two slashes is taken for a host.
    ['//x/admin', '/x/admin', '//x/admin', '/admin'],
    ['//x', '/x', '//x', '/'],
    ['/\\admin', '/\\admin', '//admin', '/', '/admin'],
    ['/%2fx/admin', '/%2Fx/admin', '//x/admin', '/admin', '/x/admin'],
    ['/admin%2fsecret', '/admin%2Fsecret', '/admin/secret'],
    ['/admin%2Fsecret', '/admin%2Fsecret', '/admin/secret'],
    ['/x%2f..%2fadmin', '/x%2F..%2Fadmin', '/x/../admin', '/admin'],
    ['/public/%2e%2e%2fadmin', '/public/..%2Fadmin', '/public/../admin', '/admin'],
    ['/public/..%5cadmin', '/public/..%5Cadmin', '/public/../admin', '/admin'],
    ['/admin;x=1/secret?y', '/admin;x=1/secret', '/admin/secret'],
    ['/login%3bx', '/login%3Bx', '/login'],
    ['/x/..;/admin', '/x/..;/admin', '/x/../admin', '/admin'],
    ['/admin%00.png', '/admin%00.png', '/admin'],
    // Line breaks are dropped, and segments trimmed.
    ['/admin%0a', '/admin%0A', '/admin'],
    ['/%20a%20%01/%1Fb%20c', '/%20a%20%01/%1Fb%20c', '/a/b%20c'],
    ['/a/..%20/%09b', '/a/..%20/%09b', '/a/../b', '/b'],
    ['/a%20%C3%A9', '/a%20%C3%A9'],
    // A server behind the first may see a query or fragment that the first has decoded.
    ['/admin%3fx', '/admin%3Fx', '/admin'],
    ['/admin%23/x%3F', '/admin%23/x%3F', '/admin'],
    ['/admin%253Fx', '/admin%253Fx', '/admin%3Fx', '/admin'],
    ['/a/../b%3f/../c', '/c', '/a/../b%3F/../c', '/a/../b', '/b'],
    // What follows `;` is cut before or after slashes are decoded.
    ['/api;%2f../admin', '/api;%2F../admin', '/api/admin', '/api;/../admin', '/api/../admin', '/admin'],
    // Of two kinds a reader may know only one.
    ['/a%2fb\\c', '/a%2Fb\\c', '/a%2Fb/c', '/a/b\\c', '/a/b/c'],
    ['/x%00%2f..%2fadmin', '/x%00%2F..%2Fadmin', '/x%00/../admin', '/x', '/x/../admin', '/admin'],
    ['/x%00/../admin%00', '/admin%00', '/x%00/../admin%00', '/x', '/admin', '/x/../admin'],
    // A second server may decode once more, and Windows knows characters of two bytes.
    ['/%2561dmin', '/%2561dmin', '/admin'],
    ['/%25252561dmin', '/%25252561dmin', '/admin'],
    ['/a/%252e%252E/b', '/a/%252e%252E/b', '/a/../b', '/b'],
    // What is decoded may complete the triplet of a percent sign before it.
    ['/%6%31dmin', '/%2561dmin', '/admin'],
    ['/%%36%31dmin', '/%2561dmin', '/admin'],
    ['/a%2%66b', '/a%252fb', '/a%2Fb', '/a/b'],
    ['/%u0061dm%25u0069n', '/%25u0061dm%25u0069n', '/admin'],
    ['/%u00e9%u4E2D%ud800', '/%25u00e9%25u4E2D%25ud800', '/%C3%A9%E4%B8%AD%ED%A0%80'],
    ['/100%25', '/100%25'],
    ['/100%25/%2525', '/100%25/%2525', '/100%25/%25'],
    ['/%u00', '/%25u00'],
  ]
  for (const [target, ...expected] of readings)
    test(`makes ${expected.join(' and ')} of ${target}`, () =>
      assert.deepEqual(pathReadings(target), expected))

  test('gives up where too much is mixed to be meant, or a path that is not read alike is long', () => {
    assert.equal(pathReadings('/a//b;c\\d%2fe'), null)
    const url = encodeURIComponent(`https://a.test/b?c=${encodeURIComponent('http://d?e')}`)
    assert.equal(pathReadings(`/proxy/${url}`)?.length, 9)
    assert.equal(pathReadings(`/${';'.repeat(4095)}`)?.length, 2)
    assert.equal(pathReadings(`/${';'.repeat(4096)}`), null)
    const long = [`/${'A'.repeat(5000)}`]
    assert.deepEqual(pathReadings(`/${'%41'.repeat(5000)}`), long)
  })

  test('begins with the normal form, and tells of each but once', () => {
    fc.assert(
      fc.property(targets(), target => {
        const readings = pathReadings(target)
        if (readings === null) return
        assert.equal(readings[0], isPlainPath(target) ? target : normalPath(target))
        assert.equal(new Set(readings).size, readings.length)
      }),
    )
  })

  test('knows what each reader sees', () => {
    const habits = fc.array(fc.boolean(), { minLength: 16, maxLength: 16 })
    fc.assert(
      fc.property(targets(), habits, (target, [has, ...habits]) => {
        const seen = pathReadings(target)?.map(reading => reading.split('?', 1)[0])
        let path = target.split('?', 1)[0]!
        const steps: readonly ((path: string) => string)[] = [
          path => path.replaceAll(/%(25)+(?=[0-9a-f]{2})/g, '%'),
          path => path.replaceAll(/;[^/]*/g, ''),
          path => path.replaceAll('\\', '/'),
          resolve,
          path => path.replaceAll(/%2f/gi, '/'),
          path => path.replaceAll(/%5c/gi, '/'),
          path => (has ? path.replace(/^\/\/+[^/]*/, '') || '/' : path),
          path =>
            path.replace(
              /^\/+%0[9ad].*/i,
              rest => rest.replaceAll(/%0[9ad]/gi, '').replace(/^\/\/+[^/]*/, '') || '/',
            ),
          path => path.replaceAll(/(;|%3b)[^/]*/gi, ''),
          path => path.split('%00', 1)[0]!,
          path => path.split(/%3f|%23/i, 1)[0]!,
          path => trimmed(path.replaceAll(/%0[9ad]/gi, '')),
          path => path.replaceAll(/\/+/g, '/'),
          path => resolve(path.replaceAll(/%2e/gi, '.')),
          path => path.replaceAll(/\/+/g, '/'),
        ]
        for (const [i, step] of steps.entries()) if (habits[i]) path = step(path)
        path = decodedPath(path).replaceAll('%2E', '.')
        assert.ok(seen === undefined || seen.includes(path), `${path} of ${target}`)
      }),
      { numRuns: thorough(5_000, 1_000) },
    )
  })

  test('costs what a few looks at each character cost, however long and mixed', () => {
    fc.assert(
      fc.property(targets(), target => {
        const path = target.split('?', 1)[0]!
        const long = path.repeat(Math.ceil(16_384 / path.length))
        const readings = pathReadings(long)
        if (readings === null || readings.length === 1) return
        assert.ok(readings.length <= 12)
        for (const reading of readings) assert.ok(reading.length <= 4_096)
      }),
    )
  })
})

describe('isReadAlike', () => {
  for (const path of ['/', '/a', '/a/', '/.well-known', '/a%20b', '/a%25'])
    test(`holds for ${path}`, () => assert.equal(isReadAlike(path), true))
  for (const path of [
    '/a;b',
    '/a\\b',
    '/a%2Fb',
    '/a%3Bb',
    '/a%5Cb',
    '/a%00',
    '//',
    '/a/..',
    '/%61',
    '/a%2f',
    '/a%2541',
    '/a%3F',
    '/a%23b',
    '/%u0061',
    '/a%2',
  ])
    test(`does not hold for ${path}`, () => assert.equal(isReadAlike(path), false))
})

/** Resolves dot segments, segment by segment. */
function resolve(path: string): string {
  const segments = path.split('/')
  const kept = [segments[0]!]
  for (const segment of segments.slice(1))
    if (segment === '..') kept.splice(Math.max(1, kept.length - 1))
    else if (segment !== '.') kept.push(segment)
  return kept.join('/') + (segments.length > 1 && /^\.\.?$/.test(segments.at(-1)!) ? '/' : '')
}

function trimmed(path: string): string {
  const segments = path.split('/')
  return segments.map(segment => segment.replace(/^(%[01].|%20)+|(%[01].|%20)+$/g, '')).join('/')
}

function targets(): fc.Arbitrary<string> {
  const piece = fc.constantFrom(
    '/',
    '//',
    '/..',
    '/../',
    '..',
    ';',
    '%3b',
    '%2f',
    '%2F',
    '%5c',
    '\\',
    '%00',
    '%3f',
    '%23',
    '%20',
    '%0a',
    '%2e',
    '%252e',
    '%252f',
    'a',
    'b',
    '?',
    '\xe9',
  )
  return fc.array(piece, { maxLength: 12 }).map(pieces => `/${pieces.join('')}`)
}
