import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isPlainPath, normalPath } from '../../src/base/path.ts'
import { pathReadings } from '../../src/base/path-readings.ts'

describe('pathReadings', () => {
  const readings: readonly [target: string, ...readings: string[]][] = [
    ['/', '/'],
    ['*', '/'],
    ['/a/b?c%2fd;e', '/a/b?c%2fd;e'],
    ['/%61/../b?c%2fd', '/b'],
    ['/a%20b', '/a%20b'],
    ['/admin%2fsecret', '/admin%2Fsecret', '/admin/secret'],
    ['/admin%2Fsecret', '/admin%2Fsecret', '/admin/secret'],
    ['/x%2f..%2fadmin', '/x%2F..%2Fadmin', '/admin'],
    ['/public/%2e%2e%2fadmin', '/public/..%2Fadmin', '/admin'],
    ['/public/..%5cadmin', '/public/..%5Cadmin', '/admin'],
    ['/\\admin', '/\\admin', '/admin'],
    ['/admin;x=1/secret?y', '/admin;x=1/secret', '/admin/secret'],
    ['/x/..;/admin', '/x/..;/admin', '/admin'],
    ['/admin%00.png', '/admin%00.png', '/admin'],
    // What follows `;` is cut before or after slashes are decoded.
    ['/api;%2f../admin', '/api;%2F../admin', '/api/admin', '/admin'],
    // The normal form may not show it.
    ['/a/b%2f../../c', '/a/c', '/c'],
    // Of two kinds a reader may know only one.
    ['/a%2fb\\c', '/a%2Fb\\c', '/a/b\\c', '/a%2Fb/c', '/a/b/c'],
    ['/x%00%2f..%2fadmin', '/x%00%2F..%2Fadmin', '/admin', '/x'],
    ['/x%00/../admin%00', '/admin%00', '/x', '/admin'],
  ]
  for (const [target, ...expected] of readings)
    test(`makes ${expected.join(' and ')} of ${target}`, () =>
      assert.deepEqual(pathReadings(target), expected))

  test('begins with the normal form, and tells of each but once', () => {
    fc.assert(
      fc.property(targets(), target => {
        const [first, ...others] = pathReadings(target)
        assert.equal(first, isPlainPath(target) ? target : normalPath(target))
        assert.equal(new Set([first, ...others]).size, others.length + 1)
      }),
    )
  })

  test('knows what each reader sees', () => {
    fc.assert(
      fc.property(targets(), fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), (target, habits) => {
        const [early, slashes, backslashes, late, rest] = habits
        let path = target.split('?', 1)[0]!
        if (early) path = cutParameters(path)
        if (slashes) path = path.replaceAll(/%2f/gi, '/')
        if (backslashes) path = path.replaceAll('\\', '/').replaceAll(/%5c/gi, '/')
        if (late) path = cutParameters(path)
        if (rest) path = path.split('%00', 1)[0]!
        const seen = pathReadings(target).map(reading => reading.split('?', 1)[0])
        assert.ok(seen.includes(normalPath(path)), `${path} of ${target}`)
      }),
      { numRuns: 3_000 },
    )
  })

  test('costs no more than a few times the normal form, however long and mixed', () => {
    const mixed = `/${'a%2f;b\\..;c%5c%41'.repeat(1_000)}%00`
    const plain = `/${'%41'.repeat(mixed.length / 3)}`
    const least = (path: string, read: (path: string) => unknown) => {
      const times = Array.from({ length: 5 }, () => {
        const began = performance.now()
        read(path)
        return performance.now() - began
      })
      return Math.min(...times)
    }
    assert.ok(pathReadings(mixed).length <= 64)
    assert.ok(least(mixed, pathReadings) < 40 * least(plain, normalPath))
  })
})

function cutParameters(path: string): string {
  return path
    .split('/')
    .map(segment => segment.split(';', 1)[0])
    .join('/')
}

function targets(): fc.Arbitrary<string> {
  const piece = fc.constantFrom(
    '/',
    '/..',
    '/../',
    '..',
    ';',
    '%2f',
    '%2F',
    '%5c',
    '\\',
    '%00',
    '%2e',
    'a',
    'b',
    '?',
  )
  return fc.array(piece, { maxLength: 12 }).map(pieces => `/${pieces.join('')}`)
}
