import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LastRequest } from '../../../src/edge/exchange/request-reuse.ts'
import { RepeatedHead } from '../../../src/http1/heads/repeated-head.ts'
import {
  AiFields,
  aiFieldsOf,
  isForGateway,
  findMisplaced,
  repeated,
} from '../../../src/edge/ai-call/request-fields.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

test('fields with the prefix of the gateway are for it, with hyphens or underscores', () => {
  for (const name of [
    'svc-aig-authorization',
    'SVC-AIG-X',
    'svc_aig_authorization',
    'Svc_Aig-Metadata',
    'svc-aig-',
  ])
    assert.equal(isForGateway(name), true, name)
  for (const name of ['svc-aig', 'svcaig-x', 'x-svc-aig-', 'svc.aig.x', 'authorization'])
    assert.equal(isForGateway(name), false, name)
})

test('two media types that differ are read as neither of them', t => {
  const steps = stepsOver(t, [])
  const typeOf = (...types: string[]) =>
    new AiFields(steps.exchange(request('POST /', ...types.map(type => `Content-Type: ${type}`))).head)
      .contentType
  assert.equal(typeOf(), null)
  assert.equal(typeOf('text/plain', 'text/plain'), 'text/plain')
  assert.equal(typeOf('application/json', 'text/plain'), 'application/json, text/plain')
})

test('each field is read where it comes once', t => {
  const steps = stepsOver(t, [])
  const read = (...fields: string[]) => new AiFields(steps.exchange(request('POST /', ...fields)).head)
  const once = read(
    'svc-aig-authorization: a',
    'Svc-Aig-Gateway-Id: b',
    'authorization: c',
    'svc-aig-other: d',
  )
  assert.deepEqual([once.gatewayAuthorization, once.gatewayId, once.authorization], ['a', 'b', 'c'])
  assert.equal(once.unknown, 'svc-aig-other')
  assert.equal(read('svc-aig-authorization: a', 'svc-aig-authorization: a').gatewayAuthorization, repeated)
})

test('a credential of this gateway has its two places, as Bearer, and no other', t => {
  const steps = stepsOver(t, [])
  const { value } = mintToken()
  const placeIn = (text: string) => {
    const { head, client } = steps.exchange(text)
    return findMisplaced(head, aiFieldsOf(head, client.last), { account: 'a' })
  }
  const placeOf = (line: string, ...fields: string[]) => placeIn(request(line, ...fields))
  assert.equal(
    placeOf('POST /', `Authorization: Bearer ${value}`, `svc-aig-authorization: bearer ${value}`),
    null,
  )
  const basic = Buffer.from(`user:${value}`).toString('base64')
  for (const [place, line, ...fields] of [
    ['the path', `POST /${value}`],
    ['the query', `POST /?key=${value}`],
    ['the header x-api-key', 'POST /', `X-Api-Key: ${value}`],
    ['the header authorization', 'POST /', `Authorization: ${value}`],
    ['the header authorization', 'POST /', `Authorization: Basic ${basic}`],
    ['the header content-type', 'POST /', `Content-Type: ${value}`],
    ['the name of a header', 'POST /', `${value}: x`],
    ['the name of a header', 'POST /', `X-Forwarded-${value}: x`],
  ] as const)
    assert.equal(placeOf(line, ...fields), place, `${line} ${fields}`)
  assert.equal(placeIn(request('POST /').replace('site.test', value)), 'the header host')
})

test('calls of a connection with the same lines share their fields, and each has its own target', () => {
  const parser = new RepeatedHead()
  const last = new LastRequest()
  const { value } = mintToken()
  const call = (target: string, authorization: string) => {
    const bytes = Buffer.from(request(`POST ${target}`, `Authorization: ${authorization}`))
    const head = parser.parse(bytes, 0, bytes.length, { url: 1000, headerSection: 1000, headers: 10 })
    assert(typeof head === 'object')
    const fields = aiFieldsOf(head, last)
    return { fields, place: findMisplaced(head, fields, { account: 'a' }) }
  }
  const [, first, second] = ['/a', '/b', `/c?key=${value}`].map(target => call(target, 'Bearer x'))
  assert.equal(first!.fields, second!.fields)
  assert.deepEqual([first!.place, second!.place], [null, 'the query'])
  const other = call('/b', value)
  assert.equal(other.place, 'the header authorization')
  assert.equal(call('/b', 'Bearer y').fields.authorization, 'Bearer y')
})
