import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { leads } from '../../../src/base/path/path.ts'
import { PathPrefixes } from '../../../src/base/path/path-prefixes.ts'

test('prefixes lead what one of them leads', () => {
  const path = fc.string({ unit: fc.constantFrom('/', 'a', 'b', '?', '/ab'), maxLength: 8 })
  fc.assert(
    fc.property(fc.array(path, { maxLength: 6 }), path, (prefixes, rest) => {
      const all = new PathPrefixes(prefixes)
      const paths = [rest, ...prefixes, ...prefixes.map(prefix => prefix + rest)]
      for (const one of paths)
        assert.equal(
          all.lead(one),
          prefixes.some(prefix => leads(prefix, one)),
          `${prefixes} and ${one}`,
        )
    }),
  )
})

test('a look-up takes one text for each length of a prefix', () => {
  assert.equal(new PathPrefixes([]).lookups, 0)
  assert.equal(new PathPrefixes(['/a', '/b', '/a', '/ab']).lookups, 2)
})
