import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HostNames } from '../../src/base/host-names.ts'

test('a name is found as it is, or under a wildcard of one label or more', () => {
  const names = new HostNames(['shop.example', '*.pictures.example'])
  for (const host of ['shop.example', 'a.pictures.example', 'a.b.pictures.example'])
    assert.ok(names.has(host), host)
  for (const host of ['', 'pictures.example', 'www.shop.example', 'evilpictures.example', 'example'])
    assert.ok(!names.has(host), host)
})
