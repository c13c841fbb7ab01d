import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { normalPath } from '../../src/base/path/path.ts'
import { pathReadings } from '../../src/base/path/path-readings.ts'
import { HostLookup, PathLookup } from '../../src/zones/lookup.ts'

describe('HostLookup', () => {
  const lookup = hosts(['a.example', '*.example', '*.deep.example', 'x.deep.example', '127.0.0.1', '::1'])

  test('finds the exact name before any wildcard', () => {
    equal(lookup.find('a.example'), 'a.example')
    equal(lookup.find('x.deep.example'), 'x.deep.example')
    equal(lookup.find('127.0.0.1'), '127.0.0.1')
    equal(lookup.find('::1'), '::1')
  })

  test('lets the star stand for one label and for several', () => {
    equal(lookup.find('b.example'), '*.example')
    equal(lookup.find('c.b.a.example'), '*.example')
  })

  test('prefers the longest suffix', () => {
    equal(lookup.find('y.deep.example'), '*.deep.example')
    equal(lookup.find('z.y.deep.example'), '*.deep.example')
    equal(lookup.find('deep.example'), '*.example')
  })

  test('finds nothing for a name that only ends alike', () => {
    equal(lookup.find('example'), null)
    equal(lookup.find('aexample'), null)
    equal(lookup.find('.example'), null)
    equal(lookup.find(''), null)
  })

  test('falls back to the default', () => {
    const lookup = new HostLookup([['a.example', 'a']], 'default')
    equal(lookup.find('a.example'), 'a')
    equal(lookup.find('b.example'), 'default')
  })

  test('agrees with a naive model', () => {
    const name = fc
      .array(fc.constantFrom('a', 'b', 'ab', 'c'), { minLength: 1, maxLength: 4 })
      .map(labels => labels.join('.'))
    const pattern = fc.oneof(
      name,
      name.map(suffix => `*.${suffix}`),
    )
    fc.assert(
      fc.property(fc.array(pattern), name, (patterns, host) => {
        equal(hosts(patterns).find(host), naiveHost(patterns, host))
      }),
    )
  })
})

describe('PathLookup', () => {
  const lookup = paths(['/', '/api', '/api/v2', '/dir/', '/admin'])
  const finds = [
    ['/', '/'],
    ['/api', '/api'],
    ['/api/', '/api'],
    ['/api/x', '/api'],
    ['/api?x', '/api'],
    ['/apix', '/'],
    ['/api/v2/x', '/api/v2'],
    ['/api/v22', '/api'],
    ['/dir/x', '/dir/'],
    ['/dir', '/'],
    ['/x?/api', '/'],
    ['/x?/../admin', '/'],
    ['/public/../admin/', 'ambiguous'],
    ['/public/%2e%2e/admin', 'ambiguous'],
    ['/api/../x', 'ambiguous'],
    ['/api/./x', '/api'],
    ['/%2561dmin', 'ambiguous'],
    ['/api/..;/x', 'ambiguous'],
    ['//admin', 'ambiguous'],
    ['//x/admin', 'ambiguous'],
    ['/admin;x', 'ambiguous'],
    ['/admin%2fx', 'ambiguous'],
    ['/a//b;c%2fd\\e', 'ambiguous'],
    ['/api//x;y/z%2f', '/api'],
    ['/public/../x', '/'],
    ['/%61dmin?x', '/admin'],
    ['/API', '/'],
    ['*', '/'],
  ] as const
  for (const [target, prefix] of finds)
    test(`leads "${target}" to ${prefix}`, () => equal(lookup.find(pathReadings(target)), prefix))

  test('finds nothing when no prefix leads', () => {
    equal(paths(['/api']).find(pathReadings('/')), null)
    equal(paths([]).find(pathReadings('/')), null)
  })

  test('needs no path where one prefix leads all', () => {
    equal(paths(['/']).always, '/')
    equal(paths(['/', '/api']).always, null)
    equal(paths(['/api']).always, null)
    equal(paths([]).always, null)
  })

  test('agrees with a naive model', () => {
    const segment = fc.constantFrom('a', 'ab', 'b', '.', '..', '%2e', '')
    const path = fc.array(segment, { maxLength: 5 }).map(segments => `/${segments.join('/')}`)
    const query = fc.constantFrom('', '?', '?/a', '?x=//../')
    fc.assert(
      fc.property(fc.array(path.map(normalPath)), path, query, (prefixes, path, query) => {
        const readings = pathReadings(path)
        const found = new Set(readings?.map(reading => naivePath(prefixes, reading)))
        equal(
          paths(prefixes).find(pathReadings(path + query)),
          found.size === 1 ? [...found][0] : 'ambiguous',
        )
      }),
    )
  })
})

function hosts(patterns: readonly string[]): HostLookup<string> {
  return new HostLookup(patterns.map(pattern => [pattern, pattern] as const))
}

function paths(prefixes: readonly string[]): PathLookup<string> {
  return new PathLookup(prefixes.map(prefix => [prefix, prefix] as const))
}

function naiveHost(patterns: readonly string[], host: string): string | null {
  const labels = host.split('.')
  const candidates = [host, ...labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`)]
  return candidates.find(candidate => patterns.includes(candidate)) ?? null
}

function naivePath(prefixes: readonly string[], path: string): string | null {
  const leading = prefixes.filter(
    prefix => path === prefix || path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`),
  )
  return leading.sort((a, b) => b.length - a.length)[0] ?? null
}
