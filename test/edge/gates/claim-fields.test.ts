import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteConfig, ZoneConfig } from '../../../src/config/model/config.ts'
import type { ForwardGateConfig, JwtGateConfig } from '../../../src/config/model/protect-config.ts'
import { ClaimFields, FieldsSetByGates, strangerWithout } from '../../../src/edge/gates/claim-fields.ts'
import { zoneTo } from '../../help/edge.ts'
import { gateOf } from '../../help/issuer.ts'
import { linesAfter } from './lines-after.ts'

const setting = (...names: string[]): JwtGateConfig =>
  gateOf('http://127.0.0.1:1', { fields: names.map(name => ({ name, claim: 'sub' })) })
const copying = (...copy: string[]) => ({ kind: 'forward', copy }) as unknown as ForwardGateConfig

function zoneOf(
  ...routes: (readonly [origins: readonly string[], protect: RouteConfig['protect']])[]
): ZoneConfig {
  const made = routes.map(([origins, protect]) => zoneTo(origins, { route: { protect } }).routes[0]!)
  return { ...zoneTo([]), routes: made }
}

test('the fields of a gate are kept from clients of its zone, of its origins, and of nothing else', () => {
  const gated = zoneOf(
    [
      ['http://10.0.0.1:80', 'http://10.0.0.2:80'],
      [setting('X_User'), copying('x-groups')],
    ],
    [['http://10.0.0.3:80'], null],
  )
  const also = zoneOf([['http://10.0.0.2:80'], [setting('X-Mail', 'X-User')]])
  const open = zoneOf(
    [['http://10.0.0.1:80'], null],
    [['http://10.0.0.1:81'], null],
    [['http://10.0.0.3:80', 'http://10.0.0.9:80'], null],
    [['http://10.0.0.2:80'], null],
  )
  const [lone] = [{ ...open.routes[0]!, pool: null }]
  const all = new FieldsSetByGates([gated, also, open])
  for (const [zone, i, names] of [
    [gated, 0, ['x-groups', 'x-mail', 'x-user']],
    [gated, 1, ['x-groups', 'x-user']],
    [also, 0, ['x-groups', 'x-mail', 'x-user']],
    [open, 0, ['x-groups', 'x-user']],
    [open, 1, []],
    [open, 2, ['x-groups', 'x-user']],
    [open, 3, ['x-groups', 'x-mail', 'x-user']],
  ] as const)
    assert.deepEqual(all.notFrom(zone.routes[i]!, zone), names, String(i))
  assert.deepEqual(all.notFrom(lone, open), [])
  assert.deepEqual(linesAfter(all.notTo({ host: '10.0.0.1', port: 80 })!, ['X.User', 'a', 'X-Mail', 'b']), [
    'X-Mail: b',
  ])
  for (const [host, port] of [
    ['10.0.0.1', 81],
    ['10.0.0.9', 80],
  ] as const)
    assert.equal(all.notTo({ host, port }), null)
})

test('names of loopback are one origin', () => {
  const gated = zoneOf([['http://127.0.0.1:3000'], [setting('X-User')]])
  const all = new FieldsSetByGates([gated])
  for (const host of ['localhost', '127.0.0.1', '::1']) assert.ok(all.notTo({ host, port: 3000 }), host)
  assert.equal(all.notTo({ host: '10.0.0.1', port: 3000 }), null)
})

test('whoever is let in by nobody loses the fields of gates, and has no name', () => {
  assert.equal(strangerWithout([]), null)
  const { changes, isCurrent, ...rest } = strangerWithout(['x-user'])!
  assert.deepEqual(linesAfter(changes, ['X_User', 'a', 'X-Other', 'b']), ['X-Other: b'])
  assert.deepEqual([rest, isCurrent()], [{ subject: null, claims: {} }, true])
})

test('an origin gets claims in place of what the client sent, and no token unless it is to', () => {
  const sent = ['Authorization', 'Bearer x', 'X-User', 'mallory', 'X-Mail', 'mallory', 'X-Other', 'o']
  const config = [
    { name: 'X-User', claim: 'sub' },
    { name: 'X-Mail', claim: 'email' },
    { name: 'X-Real-Ip', claim: 'address' },
  ]
  const names = ['x-user', 'x-mail']
  const claims = { sub: 'alice', address: '192.0.2.1' }
  const lines = ['X-Other: o', 'X-User: alice', 'X-Real-Ip: 192.0.2.1']
  assert.deepEqual(linesAfter(new ClaimFields(config, names).changesFor(claims), sent), lines)
  assert.equal(new ClaimFields(config, names).changesFor({}).changesNothingIn([]), true)
  const ofCookies = new ClaimFields([{ name: 'Cookie', claim: 'sub' }], ['cookie'])
  assert.deepEqual(linesAfter(ofCookies.changesFor({ sub: 'a=b; gatehouse=s' })), ['Cookie: a=b'])
  const keeping = new ClaimFields(config, names, true)
  assert.deepEqual(linesAfter(keeping.changesFor(claims), sent), ['Authorization: Bearer x', ...lines])
  const plain = new ClaimFields([], names)
  assert.equal(plain.changesFor({}), plain.changesFor(claims), 'made once')
  assert.deepEqual(linesAfter(plain.changesFor(claims), sent), ['X-Other: o'])
})
