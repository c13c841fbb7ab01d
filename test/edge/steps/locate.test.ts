import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'
import { locate as located } from '../../../src/edge/steps/locate.ts'
import { zoneTo } from '../../help/edge.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'
import { mintToken } from '../../../src/tokens/token.ts'

/** Takes the step, which only answers authorities that check a host. */
function locate(x: Exchange) {
  const verdict = located(x)
  assert.notEqual(verdict, 'responded')
  return verdict === 'responded' ? null : verdict
}

const origin = 'http://127.0.0.1:1'
const of = (host: string, target = '/') => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`

test('a host selects its zone, and an unknown host none', t => {
  const other = zoneTo([origin], { zone: { name: 'other', hosts: ['other.test'] } })
  const steps = stepsOver(t, [origin], { zones: [other] })
  for (const [host, zone, error] of [
    ['site.test', 'site', undefined],
    ['SITE.test:80', 'site', undefined],
    ['other.test', 'other', undefined],
    ['nobody.test', undefined, 'dns_resolution_failed'],
    ['127.0.0.1', undefined, 'direct_ip_access'],
    ['[::1]', undefined, 'direct_ip_access'],
  ] as const) {
    const x = steps.exchange(of(host))
    assert.equal(locate(x)?.error, error, host)
    assert.equal(x.zone?.config.name, zone, host)
  }
})

test('a paused zone serves nothing but previews', t => {
  const steps = stepsOver(t, [origin], { zone: { paused: true } })
  assert.equal(locate(steps.exchange(of('site.test')))?.error, 'dns_resolution_error')
  const preview = steps.exchange(of('site.test', '/cdn-cgi/error/500'))
  assert.equal(locate(preview), null)
  assert.equal(preview.asksForPreview, true)
})

test('a path leads to one route, and is refused where it may lead to two', t => {
  const [route] = zoneTo([origin]).routes
  const routes = [{ ...route!, path: '/api' }, route!]
  const steps = stepsOver(t, [origin], { zone: { routes } })
  const at = (target: string) => {
    const x = steps.exchange(of('site.test', target))
    return { error: locate(x)?.error, path: x.route?.config.path }
  }
  assert.deepEqual(at('/api/x'), { error: undefined, path: '/api' })
  assert.deepEqual(at('/other'), { error: undefined, path: '/' })
  assert.deepEqual(at('/api/..;/other'), { error: 'bad_request', path: undefined })
  const only = stepsOver(t, [origin], { zone: { routes: routes.slice(0, 1) } })
  assert.equal(locate(only.exchange(request('GET /other')))?.error, 'dns_resolution_error')
})

test('the authorization server has its paths on a host of AI routes too, whoever the token is of', t => {
  const [route] = zoneTo([origin]).routes
  const routes = [{ ...route!, path: '/oauth2', pool: null, own: 'issuer' as const }]
  const issuer = { host: '127.0.0.1', port: 8090 }
  const sidePort = { endpoint: { host: '127.0.0.1', port: 8081 }, issuer, secret: Buffer.alloc(32) }
  const alone = stepsOver(
    t,
    [origin],
    { zone: { hosts: ['ai.test'], routes }, ai: { hosts: ['ai.test'] } },
    sidePort,
  )
  const beside = stepsOver(
    t,
    [origin],
    { zone: { hosts: ['ai.test'], routes: [...routes, route!] }, ai: { hosts: ['ai.test'] } },
    sidePort,
  )
  const token = mintToken().value
  const at = (steps: typeof alone, target: string, ...fields: string[]) => {
    const x = steps.exchange(`${[`GET ${target} HTTP/1.1`, 'Host: ai.test', ...fields].join('\r\n')}\r\n\r\n`)
    const refusal = locate(x)
    return refusal?.error ?? x.route?.pool.pick(x)?.target.config.url ?? 'ai'
  }
  const ours = `Authorization: Bearer ${token}`
  for (const steps of [alone, beside])
    for (const fields of [[], [ours]])
      assert.equal(at(steps, '/oauth2/userinfo', ...fields), 'http://127.0.0.1:8090')
  assert.equal(at(alone, '/other'), at(stepsOver(t, [origin], { ai: { hosts: ['ai.test'] } }), '/other'))
  // Which credentials an origin may see is for another step to decide.
  for (const fields of [[], [ours]]) assert.equal(at(beside, '/other', ...fields), origin)
  assert.equal(at(beside, '/oauth2/..;/other'), 'bad_request')
})
