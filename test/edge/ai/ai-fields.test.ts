import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AiFields, isForGateway, repeated } from '../../../src/edge/ai/ai-fields.ts'
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
  const placeIn = (text: string) => new AiFields(steps.exchange(text).head).misplaced
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
