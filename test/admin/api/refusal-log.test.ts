// What is told and counted of requests that the management API refuses.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusals } from '../../../src/admin/api/refusal-log.ts'
import { resourcePrefix } from '../../../src/admin/tokens/body.ts'
import { createLogger } from '../../../src/log/log.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { allowing, startApi } from '../api.ts'

const tokensPath = '/client/v4/accounts/{account_id}/tokens'

test('each refusal is counted by its reason and logged, without the credential', async t => {
  const { ask, kept, keepToken, lines, refused, origin, clock } = await startApi(t)
  const reader = ['API Tokens Read'] as const
  const tokens = {
    expired: tokenWith({ expiresOn: clock.now(), policies: [allowing(reader)] }),
    disabled: tokenWith({ status: 'disabled', policies: [allowing(reader)] }),
    not_yet_valid: tokenWith({ notBefore: clock.now() + 999_999, policies: [allowing(reader)] }),
    address_denied: tokenWith({ addressesNotIn: ['127.0.0.0/8'], policies: [allowing(reader)] }),
  }
  for (const { token } of Object.values(tokens)) await kept.tokens.insert(token)
  const shown = [null, 'svct_no', mintToken().value, ...Object.values(tokens).map(({ value }) => value)]
  for (const token of shown) assert.equal((await ask('GET', '/tokens', { token })).status, 401)
  assert.deepEqual(
    lines.map(({ reason }) => reason),
    ['missing', 'malformed', 'unknown', ...Object.keys(tokens)],
  )
  for (const line of lines) {
    assert.partialDeepStrictEqual(line, { method: 'GET', path: tokensPath })
    assert.match(String(line.ray), /^[0-9a-f]{16}$/)
    assert.match(String(line.address), /127\.0\.0\.1$/)
  }
  for (const value of shown) if (value !== null) assert.ok(!JSON.stringify(lines).includes(value))

  const { value, token } = await keepToken(['AI Gateway Read'])
  assert.equal((await ask('GET', '/tokens', { token: value })).status, 403)
  assert.equal((await ask('GET', '/client/v4/zones/shop/origins', { token: value })).status, 403)
  const scopes = await fetch(`${origin}/client/v4/oauth/scopes`)
  assert.equal(scopes.status, 401)
  const maker = await keepToken(['API Tokens Write'])
  const wide = { name: 'x', policies: [policyOf('AI Gateway Run')] }
  assert.equal((await ask('POST', '/tokens', { token: maker.value, body: wide })).status, 403)
  // The eleventh is logged where this took more than a second.
  assert.deepEqual(
    lines.slice(7, 10).map(({ reason, path, actor, account }) => [reason, path, actor, account]),
    [
      ['forbidden', tokensPath, token.id, account],
      ['forbidden', '/client/v4/zones/{zone}/origins', token.id, account],
      ['missing', '/client/v4/oauth/scopes', undefined, undefined],
    ],
  )
  const counts = Object.entries(refused).map(([reason, { value }]) => [reason, value])
  assert.deepEqual(Object.fromEntries(counts), {
    missing: 2,
    malformed: 1,
    unknown: 1,
    disabled: 1,
    expired: 1,
    not_yet_valid: 1,
    address_denied: 1,
    address_unknown: 0,
    other_api: 0,
    forbidden: 2,
    beyond_token: 1,
    too_many: 0,
  })
})

test('during a flood ten refusals a second are logged, with a count of the rest', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const { managementRefusals } = new Metrics('0')
  const refusals = new Refusals(log, managementRefusals)
  const requester = {
    address: '192.0.2.1',
    peer: '192.0.2.1',
    isDirect: true,
    isVouched: false,
    base: null,
    ray: '0123456789abcdef',
  }
  const flood = (count: number) => {
    for (let i = 0; i < count; i++) refusals.note('unknown', { method: 'GET', path: '/x' }, requester)
  }
  flood(1_000)
  assert.equal(lines.length, 10)
  t.mock.timers.tick(1_000)
  assert.partialDeepStrictEqual(lines[10], { count: 990, msg: 'more management requests refused' })
  flood(3)
  t.mock.timers.tick(1_000)
  assert.equal(lines.length, 14)
  assert.equal(managementRefusals.unknown.value, 1_003)
})

function policyOf(name: string) {
  const { id } = permissionGroups.find(group => group.name === name)!
  return { effect: 'allow', permission_groups: [{ id }], resources: { [resourcePrefix + account]: '*' } }
}
