import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Certificate } from '../../src/tls/certificate.ts'
import { Authority } from '../help/certificates.ts'

const authority = new Authority()

test('a certificate says for which hosts it is good, until when, and by which algorithm', () => {
  const { certificate } = authority.issue(['Shop.Example', '*.shop.example', '192.0.2.7', '2001:db8::1'], {
    key: 'rsa',
    days: 9,
  })
  const { names, notBefore, notAfter, keyType } = new Certificate(certificate)
  assert.deepEqual(names, ['shop.example', '*.shop.example', '192.0.2.7', '2001:db8::1'])
  assert.equal(keyType, 'rsa')
  assert.equal(notAfter - notBefore, 9 * 86_400_000)
  assert.ok(Math.abs(notBefore - Date.now()) < 60_000)
})

test('a star stands for one label', () => {
  const certificate = new Certificate(authority.issue(['*.shop.example', 'own.example']).certificate)
  const good = ['a.shop.example', 'own.example', '*.shop.example']
  const bad = ['shop.example', 'a.b.shop.example', 'a.own.example', '', '.', 'example']
  assert.deepEqual(
    [...good, ...bad].filter(host => certificate.covers(host)),
    good,
  )
})

test('one that names no host has no names', () => {
  assert.deepEqual(new Certificate(authority.issue([]).certificate).names, [])
})
