import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  withholdCredentials,
  withholdCredentialsFrom,
  withholdOthers,
} from '../../../src/edge/exchange/gateway-credentials.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import type { EdgeSettings, Member } from '../../help/edge.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

const { value: token } = mintToken()
const bearer = `Authorization: Bearer ${token}`
const sidePort = {
  endpoint: { host: '127.0.0.1', port: 8081 },
  issuer: { host: '127.0.0.1', port: 8090 },
  secret: Buffer.alloc(32),
}

/** Stages requests to a pool of these members, beside a side port at 127.0.0.1:8081. */
function before(t: TestContext, members: readonly Member[], settings: EdgeSettings = {}) {
  const steps = stepsOver(t, members, settings, sidePort)
  return (...fields: string[]) => steps.located(request('GET /', ...fields))
}

test('only where the whole pool may be the side port, a credential goes on', t => {
  for (const [members, status] of [
    [['http://127.0.0.1:8081'], null],
    [['http://127.0.0.1:8090'], null],
    [['http://localhost:8081'], null],
    [['http://localhost:8090'], null],
    [['http://gatehouse.internal:8081'], null],
    [['http://127.0.0.1:9000'], 'bad_request'],
    [['http://192.0.2.1:8081'], 'bad_request'],
    [['http://127.0.0.2:8081'], 'bad_request'],
    [['http://localhost:9000'], 'bad_request'],
    [['http://127.0.0.1:8081', 'http://127.0.0.1:9000'], 'bad_request'],
  ] as const)
    assert.equal(withholdCredentials(before(t, members)(bearer))?.error ?? null, status, String(members))
})

test('what a name stands for decides once it is resolved', t => {
  const x = before(t, ['http://gatehouse.internal:8081'])(bearer)
  assert.equal(withholdCredentials(x), null)
  for (const [address, error] of [
    ['127.0.0.1', null],
    ['::ffff:127.0.0.1', null],
    ['192.0.2.1', 'bad_request'],
    ['127.0.0.2', 'bad_request'],
    ['::1', 'bad_request'],
  ] as const)
    assert.equal(withholdCredentialsFrom(x, address)?.error ?? null, error, address)
  const plain = before(t, ['http://gatehouse.internal:8081'])()
  assert.equal(withholdCredentials(plain), null)
  assert.equal(withholdCredentialsFrom(plain, '192.0.2.1'), null)
})

test('without a side port of this process, every pool leads to others', t => {
  for (const member of ['http://127.0.0.1:8081', 'http://localhost:8081']) {
    const x = stepsOver(t, [member]).located(request('GET /', bearer))
    assert.equal(withholdCredentials(x)?.error, 'bad_request')
  }
  const alone = { ...sidePort, issuer: null }
  const toIssuer = stepsOver(t, ['http://localhost:8090'], {}, alone).located(request('GET /', bearer))
  assert.equal(withholdCredentials(toIssuer)?.error, 'bad_request')
})

test('what is published of the side port takes credentials', t => {
  const x = before(t, [], { route: { pool: null, own: 'issuer' } })(bearer)
  assert.equal(withholdCredentials(x), null)
  assert.equal(x.credentialPlace, null)
})

test('the refusal names the host that AI calls belong to, or this one', t => {
  const detailOf = (ai: EdgeSettings['ai']) =>
    withholdCredentials(before(t, ['http://127.0.0.1:9000'], ai && { ai })(bearer))!.wording!.detail
  assert.match(detailOf({ hosts: ['ai.test'] }), /AI calls belong to the host ai\.test, under \/client/)
  assert.match(detailOf({ hosts: ['ai.test', 'site.test'] }), /AI calls belong to this host, under \/client/)
  assert.match(detailOf(undefined), /This gateway has no AI routes\./)
})

test('before an authorizer is asked, a credential may only be a Bearer in Authorization', t => {
  const steps = stepsOver(t, ['http://127.0.0.1:9000'])
  const errorOf = (line: string, ...fields: string[]) =>
    withholdOthers(steps.located(request(line, ...fields)))?.error ?? null
  for (const [line, fields, error] of [
    ['GET /', [], null],
    ['GET /', ['X-A: b', bearer], null],
    ['GET /', ['X-A: b', `Authorization: Token ${token}`], 'bad_request'],
    ['GET /', [bearer, `X-Api-Key: Bearer ${token}`, 'X-A: b'], 'bad_request'],
    ['GET /', [`X-${token}: a`], 'bad_request'],
    [`GET /?key=${token}`, [], 'bad_request'],
  ] as const)
    assert.equal(errorOf(line, ...fields), error, `${line} ${fields}`)
})

test('lines are searched again as soon as one of them is another, and a credential each time', t => {
  const stage = before(t, ['http://127.0.0.1:9000'])
  for (const version of ['1.1', '2'] as const) {
    const first = stage()
    const { client } = first
    const placeOf = (...fields: string[]) => {
      const x = stage(...fields)
      Object.assign(x, { client })
      x.head.version = version
      withholdCredentials(x)
      return x.credentialPlace
    }
    for (const [fields, place] of [
      [['X-A: b', 'X-C: d'], null],
      [['X-A: b', 'X-C: d'], null],
      [['X-A: b', `X-C: ${token}`], 'the header x-c'],
      [['X-A: b', `X-C: ${token}`], 'the header x-c'],
      [['X-A: b', 'X-C: d'], null],
      [['X-A: b', `X-${token}: d`], 'the name of a header'],
      [[`X-A: ${token}`, 'X-C: d'], 'the header x-a'],
      [[`X-A: ${token}`, `X-C: ${token}`], 'the header x-a'],
      [[], null],
    ] as const)
      assert.equal(placeOf(...fields), place, `${version} ${fields}`)
  }
})

test('the refusal names what is plain, three hosts at most, and the issuer', t => {
  const steps = stepsOver(t, ['http://127.0.0.1:9000'], {
    ai: { hosts: ['a.test', 'b.test', 'c.test', 'd.test'] },
  })
  const refusalOf = (...fields: string[]) => {
    const x = steps.located(request('GET /v1/x/y', ...fields))
    const { wording, cause } = withholdCredentials(x)!
    assert.deepEqual(cause, { code: 'credential of the gateway' })
    assert.equal(wording!.isOfRequest, true)
    assert.notEqual(x.audience, steps.located(request('GET /')).audience)
    return wording!.detail
  }
  const detail = refusalOf(bearer)
  assert.match(
    detail,
    /in the header authorization, .*to the host a\.test or b\.test or c\.test, .*OAuth belongs to the authorization server,/,
  )
  assert.match(refusalOf(`X!<b>: ${token}`.replace('<b>', '~')), /in a header, /)
  Object.assign(steps.plane, { ai: { issuer: 'https://id.example' } })
  assert.match(refusalOf(bearer), /OAuth belongs to https:\/\/id\.example,/)
})
