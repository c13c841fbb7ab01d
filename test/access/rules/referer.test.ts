import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { refererHost } from '../../../src/access/rules/referer.ts'
import { anyUrl } from '../../help/any-text.ts'

test('the host is found in whatever a URL holds beside it', () => {
  assert.equal(refererHost('https://Shop.Example/a/b?c#d'), 'shop.example')
  assert.equal(refererHost('http://user:secret@shop.example:8080/'), 'shop.example')
  assert.equal(refererHost('http://shop.example.'), 'shop.example')
  assert.equal(refererHost('http://[::1]:80/'), '[::1]')
  assert.equal(refererHost('http://[2001:db8::1]/'), '[2001:db8::1]')
  assert.equal(refererHost('https://good.example\\@evil.example'), 'good.example')
  assert.equal(refererHost('https://x?@evil.example'), 'x')
  assert.equal(refererHost('http://shop.example/:x'), 'shop.example')
  for (const none of ['http://:80/', '', '/', 'about:blank', 'shop.example', '://'])
    assert.equal(refererHost(none), '', none)
})

test('the host of a URL is the one that others read in it', () => {
  fc.assert(
    fc.property(anyUrl, url => {
      assert.equal(refererHost(url), new URL(url).hostname)
    }),
  )
})

test('any text has a host, or none, in its own length of time', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('http://', '@', ':', ']', '.', '/', 'a') }), text => {
      assert.equal(typeof refererHost(text), 'string')
    }),
  )
})

test('what no host can be has none, and is not read to its end', () => {
  assert.equal(refererHost(`http://${'a'.repeat(254)}/`), '')
  assert.equal(refererHost(`http://${'a'.repeat(253)}/`), 'a'.repeat(253))
  const long = (length: number) => `http://${'u'.repeat(length - 20)}@shop.example`
  assert.deepEqual([long(1024), long(1025)].map(refererHost), ['shop.example', ''])
  assert.equal(refererHost(`http://${'u'.repeat(1000)}@shop.example.evil.example/`), '')
  assert.equal(refererHost(`http://shop.example/${'.'.repeat(130_000)}`), 'shop.example')
})
