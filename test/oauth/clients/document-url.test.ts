import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyUrl } from '../../help/any-text.ts'
import {
  clientIdOf,
  documentIdOf,
  documentUrlFault,
  isOnHosts,
  storedIdOf,
} from '../../../src/oauth/clients/document-url.ts'

const good = 'https://app.example/oauth/client.json'

test('the URL of a document is https with a path, and written in one way only', () => {
  assert.equal(documentUrlFault(good), null)
  assert.equal(documentUrlFault('https://app.example:8443/c'), null)
  assert.equal(documentUrlFault(`https://app.example/${'c'.repeat(235)}`), null)
  const faulty: readonly (readonly [string, RegExp])[] = [
    ['http://app.example/c', /must begin with https/],
    ['https://app.example', /must have a path/],
    ['https://app.example/', /must have a path/],
    ['https://app.example/c#', /must not have a fragment/],
    ['https://app.example/c?', /must not have a query/],
    ['https://app.example/c?a=b', /must not have a query/],
    ['https://user@app.example/c', /must not have a user name/],
    ['https://:@app.example/c', /must be written as https:\/\/app.example\/c/],
    ['https://app.example/a/../c', /must not have dot segments/],
    ['https://app.example/./c', /must not have dot segments/],
    ['https://app.example/a/%2e%2E/c', /must not have dot segments/],
    ['https://app.example/c/..', /must not have dot segments/],
    ['https://app.example:443/c', /must be written as https:\/\/app.example\/c/],
    ['https://app.example:/c', /must be written as/],
    ['https://app.example:0443/c', /must be written as/],
    ['https://APP.example/c', /must be written as/],
    ['HTTPS://app.example/c', /must be written as/],
    ['https:/app.example/c', /must be written as/],
    ['https:\\\\app.example/c', /must not contain a backslash/],
    ['https://app.example./c', /host that does not begin or end with a dot/],
    ['https://0x7f.1/c', /must be written as https:\/\/127.0.0.1\/c/],
    ['https://app.example/%63', /must be written as https:\/\/app.example\/c/],
    ['https://app.example/\u202ec', /printable ASCII/],
    [`https://app.example/${'c'.repeat(236)}`, /at most 255 bytes/],
  ]
  for (const [url, rule] of faulty) assert.match(documentUrlFault(url) ?? 'none', rule, url)
})

test('a client is stored by an id, and known to all others by the URL of its document', () => {
  const [id, document] = ['f'.repeat(32), { url: good, scope: null, keys: [], fetchedAt: 0, expiresAt: 1 }]
  assert.deepEqual([storedIdOf(good), storedIdOf(id)], [documentIdOf(good), id])
  assert.deepEqual([clientIdOf({ id: documentIdOf(good), document }), clientIdOf({ id })], [good, id])
})

test('a URL that is accepted is what a parser writes, and nothing of it is lost', () => {
  const part = fc.constantFrom(
    'a',
    '.',
    '..',
    '%2e',
    '%41',
    '/',
    '@',
    ':',
    '443',
    '?',
    '#',
    '\\',
    'é',
    ' ',
    '[::1]',
  )
  const texts = fc.array(part, { maxLength: 12 }).map(parts => `https://app.example${parts.join('')}`)
  fc.assert(
    fc.property(fc.oneof(texts, anyUrl, fc.string()), url => {
      if (documentUrlFault(url) !== null) return
      const { href, protocol, username, password, search, hash, pathname } = new URL(url)
      assert.equal(href, url)
      assert.equal(protocol, 'https:')
      assert.equal(username + password + search + hash, '')
      assert.ok(pathname.length > 1 && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(pathname))
      assert.match(documentIdOf(url), /^[\w-]{47}$/)
    }),
    { numRuns: 400 },
  )
})

test('only listed hosts are asked, and only the usual port unless another one is listed', () => {
  const is = (url: string, ...hosts: string[]) => isOnHosts(url, hosts)
  assert.equal(is(good), false)
  assert.equal(is(good, 'app.example'), true)
  assert.equal(is(good, 'example'), false)
  assert.equal(is(good, '*.example'), true)
  assert.equal(is('https://example/c', '*.example'), false)
  assert.equal(is('https://badexample/c', '*.example'), false)
  assert.equal(is(good, '*'), true)
  assert.equal(is('https://app.example:8443/c', '*', '*.example', 'app.example'), false)
  assert.equal(is('https://app.example:8443/c', 'app.example:8443'), true)
  for (const address of ['127.0.0.1', '192.0.2.1', '[::1]', '[2001:db8::1]']) {
    assert.equal(is(`https://${address}/c`, '*'), false)
    assert.equal(is(`https://${address}/c`, address), true)
  }
})
