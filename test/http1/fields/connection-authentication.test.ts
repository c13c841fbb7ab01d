import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  authenticatesConnection,
  continuesHandshake,
  hasConnectionScheme,
} from '../../../src/http1/fields/connection-authentication.ts'
import { type FieldId, fieldId } from '../../../src/http1/fields/fields.ts'
import { answerHead } from '../../help/exchange.ts'

const linesOf = (...fields: string[]) => ({
  fields,
  ids: fields.filter((_, i) => i % 2 === 0).map(name => fieldId(name)) as FieldId[],
})

const schemes = ['NTLM', 'Negotiate', 'Negotiate:Kerberos', 'Nego2', 'Kerberos', 'CredSSP', 'GSSAPI', 'PKU2U']
const anyCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map(uppers => [...text].map((c, i) => (uppers[i] ? c.toUpperCase() : c.toLowerCase())).join(''))
const token = fc.base64String({ minLength: 4 })
const space = fc.constantFrom('', ' ', '\t', ' \t ')
const other = fc.oneof(
  token.map(text => `Bearer ${text}`),
  token.map(text => `Basic ${text}`),
  fc.constantFrom('Basic realm="a, \\"b\\""', 'Digest realm="c", nonce="d", qop=auth', 'Bearer', ''),
)
const member = fc.oneof(
  fc.constantFrom(...schemes).chain(anyCase),
  fc.tuple(fc.constantFrom(...schemes).chain(anyCase), token).map(parts => parts.join(' ')),
)

test('a scheme that authenticates the connection is found in any case and at any place of a list', () => {
  const list = fc.tuple(fc.array(other), member, fc.array(other), space, space)
  fc.assert(
    fc.property(list, ([before, found, after, left, right]) => {
      const value = [...before, found, ...after].join(`${left},${right}`).trim()
      assert.equal(hasConnectionScheme(value), true)
      assert.equal(authenticatesConnection(linesOf('Accept', '*/*', 'authorization', value)), true)
      assert.equal(answerHead('HTTP/1.1 401 No', `WWW-Authenticate: ${value}`).authenticatesConnection, true)
    }),
  )
})

test('Basic, Bearer and Digest authenticate requests, whatever their tokens are', () => {
  fc.assert(
    fc.property(fc.array(other), members => {
      const value = members.join(', ')
      assert.equal(hasConnectionScheme(value), false)
      assert.equal(authenticatesConnection(linesOf('Authorization', value)), false)
      assert.equal(continuesHandshake(linesOf('WWW-Authenticate', value)), false)
    }),
  )
})

test('every one of several Authorization fields counts, and no other field', () => {
  const two = linesOf('Authorization', 'Basic YTpi', 'X', 'y', 'AUTHORIZATION', 'Negotiate abc')
  assert.equal(authenticatesConnection(two), true)
  assert.equal(authenticatesConnection(linesOf('X', 'NTLM abc', 'Cookie', 'NTLM abc')), false)
  assert.equal(authenticatesConnection(linesOf()), false)
})

test('a challenge with a token asks for another message, and one without does not', () => {
  const continues = (...values: string[]) =>
    continuesHandshake(linesOf(...values.flatMap(value => ['WWW-Authenticate', value])))
  assert.equal(continues('Negotiate', 'NTLM'), false)
  assert.equal(continues('Negotiate', 'NTLM TlRMTVNTUAACAAAA'), true)
  assert.equal(continues('Basic realm="a", negotiate oYIBHzCCARug'), true)
  assert.equal(continues('Foo TlRMTVNTUAACAAAA'), true)
  assert.equal(continues('Negotiate, Basic realm="a"'), false)
})

test('a list without an end takes no time', () => {
  for (const piece of [',', ' ,', ', ', 'ntl,', 'a ', ' \t', 'a'])
    assert.equal(hasConnectionScheme(piece.repeat(100_000)), false)
})
