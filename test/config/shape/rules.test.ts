import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSecureContext } from 'node:tls'
import { root } from '../../help/source.ts'
import { headerName, readHeaderKey, revocationLists } from '../../../src/config/shape/rules.ts'

test('the name of a header is a token of at most 128 characters', () => {
  for (const name of ['X-User', "!#$%&'*+-.^_`|~9", 'x'.repeat(128)])
    assert.deepEqual(headerName(name), { value: name })
  for (const name of ['', 'X User', 'X:User', 'X-Überall', 'x'.repeat(129)])
    assert.ok('flaw' in headerName(name), name)
})

test('what goes by a header names it in any case, and one only', () => {
  assert.equal(readHeaderKey('header X-User'), 'x-user')
  assert.equal(readHeaderKey(`header   ${'X'.repeat(128)}`), 'x'.repeat(128))
  for (const text of [
    'header',
    'header ',
    'headerX',
    'header X Y',
    'header X\n',
    `header ${'x'.repeat(129)}`,
  ])
    assert.equal(readHeaderKey(text), undefined, text)
})

test('a revocation list has times that can be read, though OpenSSL would take it without', () => {
  const pem = readFileSync(join(root, 'test/golden/config/files/clients.crl'), 'latin1')
  assert.ok('value' in revocationLists(pem))
  const der = Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ''), 'base64')
  for (const tag of [0x17, 0x18]) {
    const malformed = Buffer.from(der)
    malformed[malformed.indexOf('Z', malformed.indexOf(tag)) - 1] = 0x78
    const text = `-----BEGIN X509 CRL-----\n${malformed.toString('base64')}\n-----END X509 CRL-----\n`
    createSecureContext({ crl: text })
    assert.ok('flaw' in revocationLists(text))
  }
})
