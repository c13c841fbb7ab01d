// Which tokens of this gateway a gate lets in, and what its origins learn of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TokenGateConfig } from '../../../src/config/model/protect-config.ts'
import type { Admission, GateFault, Requester } from '../../../src/edge/gates/gate.ts'
import { TokenGate } from '../../../src/edge/gates/token-gate.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { roles } from '../../../src/permissions/roles.ts'
import type { Actor, Token } from '../../../src/store/records/records.ts'
import { LastToken, type TokenFault } from '../../../src/tokens/verify.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { linesAfter } from './lines-after.ts'

const run = permissionGroups.find(({ name }) => name === 'AI Gateway Run')!.id
const [administrator] = roles
const site = new URL('https://site.test/orders')
const challenge = 'Bearer resource_metadata="https://site.test/.well-known/oauth-protected-resource/orders", '

const apiToken = { permission: 'AI Gateway Run', account } as const
const accessToken = { scopes: ['orders.read', 'orders.write'], server: null, account: null }

const gateOf = (accepts: TokenGateConfig['accepts'], more: Partial<TokenGateConfig> = {}) =>
  new TokenGate(
    { kind: 'token', accepts, fields: [{ name: 'X-Sub', claim: 'sub' }], endsOpen: false, ...more },
    ['x-sub'],
  )

const allowed = (more: Partial<Token> = {}) =>
  tokenWith({
    policies: [{ id: '', effect: 'allow', accounts: [account], permissionGroups: [run] }],
    ...more,
  }).token

const ofApp = (more: Partial<Actor> = {}) =>
  tokenWith({
    actor: {
      ...{ user: 'u', client: 'c', grant: 'g', end: null, members: [], apis: [] },
      ...{ scopes: accessToken.scopes, resources: ['https://SITE.test/orders'], memberships: [] },
      ...more,
    } as unknown as Actor,
  }).token

type Verdict = Token | TokenFault

let isOver = false

/** Checks a token that is known to be such. */
function check(gate: TokenGate, verdict: Verdict | Promise<Verdict>, more: object = {}) {
  const asked: unknown[] = []
  const last = new LastToken()
  const tokens = {
    verify: (...what: unknown[]) => {
      asked.push(what)
      return verdict
    },
    isCurrent: (token: Token) => token === verdict && !isOver,
    review: () => verdict,
  }
  const bearer = { tokens, hasIssuer: true, address: '192.0.2.1', resource: () => site, ...more }
  const outcome = gate.check('value', last, bearer)
  assert.deepEqual(asked, [['value', '192.0.2.1', 'route', last]])
  return outcome as Admission | GateFault
}

const codeIn = (outcome: Admission | GateFault) =>
  'cause' in outcome ? [outcome.kind, outcome.cause.code] : null

test('an API token needs the permission in the account, and no limits to gateways or models', () => {
  const gate = gateOf(apiToken)
  const token = allowed()
  const admission = check(gate, token) as Admission
  assert.deepEqual(
    [admission.subject, admission.claims],
    [`token:${token.id}`, { sub: token.id, name: 'a token', roles: [] }],
  )
  assert.deepEqual(linesAfter(admission.changes, ['X-Sub', 'mallory', 'Authorization', 'Bearer x']), [
    `X-Sub: ${token.id}`,
  ])
  assert.equal(admission.isCurrent(), true)
  isOver = true
  assert.equal(admission.isCurrent(), false)
  isOver = false
  assert.equal(check(gate, token), admission, 'judged once')
  for (const other of [
    allowed({ policies: [] }),
    allowed({ gateways: ['*'] }),
    allowed({ models: ['*'] }),
    allowed({ policies: [{ id: '', effect: 'allow', accounts: ['0'.repeat(32)], permissionGroups: [run] }] }),
  ]) {
    const fault = check(gate, other) as GateFault
    assert.deepEqual(codeIn(fault), ['insufficient', 'GH_TOKEN_INSUFFICIENT'])
    assert.equal(fault.challenge, 'Bearer error="insufficient_scope"')
  }
  assert.deepEqual(codeIn(check(gate, ofApp())), ['invalid', 'GH_TOKEN_OTHER_KIND'])
})

test('an access token needs each of the scopes, and to be for this URL', () => {
  const gate = gateOf(accessToken)
  const admission = check(gate, ofApp()) as Admission
  assert.deepEqual(
    [admission.subject, admission.claims],
    ['user:u', { sub: 'u', client_id: 'c', scope: 'orders.read orders.write' }],
  )
  for (const [token, code, error] of [
    [ofApp({ scopes: ['orders.read'] }), ['insufficient', 'GH_TOKEN_INSUFFICIENT'], 'insufficient_scope'],
    [ofApp({ resources: ['https://site.test/'] }), ['invalid', 'GH_TOKEN_OTHER_AUDIENCE'], 'invalid_token'],
    [ofApp({ resources: ['nonsense'] }), ['invalid', 'GH_TOKEN_OTHER_AUDIENCE'], 'invalid_token'],
    [ofApp({ resources: undefined as never }), ['invalid', 'GH_TOKEN_OTHER_AUDIENCE'], 'invalid_token'],
    [allowed(), ['invalid', 'GH_TOKEN_OTHER_KIND'], 'invalid_token'],
  ] as const) {
    const fault = check(gate, token) as GateFault
    assert.deepEqual(codeIn(fault), code)
    assert.equal(fault.challenge, `${challenge}scope="orders.read orders.write", error="${error}"`)
  }
  assert.deepEqual(codeIn(check(gate, ofApp(), { resource: () => null })), [
    'invalid',
    'GH_TOKEN_OTHER_AUDIENCE',
  ])
  const without = check(gate, 'expired', { hasIssuer: false }) as GateFault
  assert.equal(without.challenge, 'Bearer scope="orders.read orders.write", error="invalid_token"')
})

test('a token that was let in at one URL is judged again at another', () => {
  const gate = gateOf({ ...accessToken, scopes: [] })
  const token = ofApp()
  const first = check(gate, token)
  assert.equal(check(gate, token), first)
  assert.deepEqual(codeIn(check(gate, token, { resource: () => new URL('https://other.test/') })), [
    'invalid',
    'GH_TOKEN_OTHER_AUDIENCE',
  ])
  assert.equal(check(gate, token, { resource: () => new URL('https://site.test/orders') }), first)
})

test('an origin learns of a person what is verified, and the roles in the account that counts', () => {
  const memberships = [
    { account, roles: [administrator!.id] },
    { account: '0'.repeat(32), roles: [roles[1]!.id] },
  ] as unknown as NonNullable<Actor['memberships']>
  const claimsOf = (more: Partial<Actor>, counts: string | null = account) =>
    (check(gateOf({ ...accessToken, account: counts }), ofApp(more)) as Admission).claims
  const plain = { sub: 'u', client_id: 'c', scope: 'orders.read orders.write' }
  assert.deepEqual(claimsOf({ memberships }), { ...plain, roles: [administrator!.name] })
  assert.deepEqual(claimsOf({ memberships }, null), plain)
  assert.deepEqual(claimsOf({ memberships: undefined as never }), plain)
  const email = 'a@b.example'
  assert.deepEqual(
    claimsOf({ email, isEmailVerified: true, clientUrl: 'https://app.test/' } as Partial<Actor>, null),
    {
      ...{ ...plain, client_id: 'https://app.test/' },
      email,
    },
  )
  assert.deepEqual(claimsOf({ email } as Partial<Actor>, null), plain)
})

test('without a token, with a bad one, and while none can be checked, nobody is let in', async () => {
  const gate = gateOf(apiToken)
  const bearer = { tokens: null as never, hasIssuer: true, address: '', resource: () => site }
  const missing = gate.check(null, new LastToken(), bearer) as GateFault
  assert.deepEqual([codeIn(missing), missing.challenge], [['missing', 'GH_TOKEN_MISSING'], 'Bearer'])
  for (const [fault, code] of [
    ['expired', ['invalid', 'GH_TOKEN_EXPIRED']],
    ['store_unreachable', ['unavailable', 'GH_TOKEN_STORE_UNREACHABLE']],
  ] as const) {
    assert.deepEqual(codeIn(check(gate, fault)), code)
    assert.deepEqual(codeIn(await check(gate, Promise.resolve(fault))), code)
  }
  const away = check(gate, 'store_unreachable') as GateFault
  assert.deepEqual([away.wait, away.challenge], [5, null])
})

test('what is open ends with its token where the gate says so, by the gates of that time', async () => {
  const requester: Requester = { address: '192.0.2.1', resource: () => site }
  assert.equal((check(gateOf(apiToken), allowed()) as Admission).watch, undefined)
  const laxer = gateOf(apiToken)
  const stricter = gateOf({ ...apiToken, account: '0'.repeat(32) })
  for (const isLate of [false, true]) {
    const gate = gateOf(apiToken, { endsOpen: true })
    const token = allowed()
    let verdict: Verdict = token
    const review = (...what: unknown[]) => {
      assert.deepEqual(what, [token, '192.0.2.1', 'route'])
      return isLate ? Promise.resolve(verdict) : verdict
    }
    const tokens = { verify: () => token, isCurrent: () => true, review }
    const { watch } = gate.check('x', new LastToken(), { tokens, hasIssuer: true, ...requester }) as Admission
    assert.equal(watch!.kind, 'token')
    const codeWith = async (...gates: object[]) => (await watch!.check(requester, gates))?.cause.code ?? null
    assert.deepEqual(
      [
        await codeWith(gate, stricter),
        await codeWith({}, laxer),
        await codeWith(stricter),
        await codeWith({}),
      ],
      [null, null, 'GH_TOKEN_INSUFFICIENT', 'GH_GATE_CHANGED'],
    )
    const elsewhere = '0'.repeat(32)
    verdict = allowed({ policies: [{ ...token.policies[0]!, accounts: [elsewhere] }] })
    assert.equal(await codeWith(gate, stricter), 'GH_TOKEN_INSUFFICIENT', 'its own gate decides')
    verdict = 'expired'
    assert.equal(await codeWith(gate), 'GH_TOKEN_EXPIRED')
  }
})
