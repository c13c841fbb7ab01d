import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HostNames } from '../../../src/net/address/host-names.ts'

test('a name is found as it is, or under a wildcard of one label or more', () => {
  const names = new HostNames(['shop.example', '*.pictures.example'])
  for (const host of ['shop.example', 'a.pictures.example', 'a.b.pictures.example'])
    assert.ok(names.has(host), host)
  for (const host of ['', 'pictures.example', 'www.shop.example', 'evilpictures.example', 'example'])
    assert.ok(!names.has(host), host)
})

test('a text costs no more look-ups than there are lengths of wildcards, however many dots it has', t => {
  const names = new HostNames(['shop.example', '*.pictures.example', '*.pictures.another', '*.example'])
  const look = t.mock.method(Set.prototype, 'has')
  for (const host of ['.'.repeat(130_000), `${'.'.repeat(200)}.example.x`, 'a.'.repeat(126)]) {
    look.mock.resetCalls()
    assert.ok(!names.has(host))
    assert.ok(look.mock.callCount() <= names.lookups, `${look.mock.callCount()} of ${host.length}`)
  }
  assert.equal(names.lookups, 3)
})

test('a name is found as if each of its suffixes was looked up', () => {
  const label = fc.constantFrom('a', 'b', 'example', '')
  const host = fc.array(label, { minLength: 1, maxLength: 6 }).map(labels => labels.join('.'))
  fc.assert(
    fc.property(fc.array(host), fc.array(host), host, (exact, wild, asked) => {
      const names = new HostNames([...exact, ...wild.map(name => `*.${name}`)])
      const isFound =
        exact.includes(asked) ||
        wild.some(name => asked.length > name.length + 1 && asked.endsWith(`.${name}`))
      assert.equal(names.has(asked), isFound)
    }),
  )
})
