import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseAiTarget } from '../../../src/ai/target.ts'
import { AiExchange } from '../../../src/edge/ai-call/ai-exchange.ts'
import { authenticate } from '../../../src/edge/ai/authenticate.ts'
import { locateAi } from '../../../src/edge/ai/locate-ai.ts'
import { audienceOf } from '../../../src/edge/ai-call/audience-of-call.ts'
import type { AiServices } from '../../../src/edge/snapshot/plane.ts'
import type { Gateway, Token } from '../../../src/store/records/records.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'
import { gateway, token } from '../../store/contract-specimens.ts'

const [ours, others] = ['a'.repeat(32), 'b'.repeat(32)]
const path = `/v1/${ours}/default/openai/chat/completions`
const run = permissionGroups.find(({ name }) => name === 'AI Gateway Run')!.id
const tokenFor = (account: string, groups = [run]): Token =>
  token({ account, policies: [{ id: '', effect: 'allow', accounts: [account], permissionGroups: groups }] })

/** Asks whether a call may go on to a gateway, with a token that is known to be such. */
function ask(t: TestContext, found: Gateway | null | 'store_unreachable', verified: Token | string) {
  const steps = stepsOver(t, [])
  const services = {
    gateways: { find: () => found },
    tokens: { verify: () => verified },
  } as unknown as AiServices
  Object.assign(steps.plane, { ai: services })
  const x = steps.exchange(request(`POST ${path}`, 'svc-aig-authorization: Bearer x'))
  const target = parseAiTarget(path)!
  x.ai = new AiExchange(target, x.head, x.client.last)
  x.audience = audienceOf(target)
  const refusal = authenticate(x)
  assert.ok(!(refusal instanceof Promise))
  return { error: refusal?.error ?? null, ai: x.ai }
}

const closed = gateway({ account: ours, authentication: true })

test('a gateway that requires a token admits those with permission in its account, and no others', t => {
  const good = ask(t, closed, tokenFor(ours))
  assert.deepEqual([good.error, good.ai.gateway], [null, closed])
  assert.equal(ask(t, closed, tokenFor(others)).error, 'forbidden')
  assert.equal(ask(t, closed, tokenFor(ours, [])).error, 'forbidden')
  for (const fault of ['missing', 'unknown', 'expired']) {
    const bad = ask(t, closed, fault)
    assert.deepEqual([bad.error, bad.ai.gateway, bad.ai.isDenied], ['unauthorized', null, true])
  }
  assert.equal(ask(t, closed, 'store_unreachable').error, 'service_unavailable')
})

test('access is refused when the store is unreachable', t => {
  const away = ask(t, 'store_unreachable', tokenFor(ours))
  assert.deepEqual([away.error, away.ai.gateway], ['service_unavailable', null])
  const unknown = ask(t, closed, 'store_unreachable')
  assert.deepEqual([unknown.error, unknown.ai.challenge], ['service_unavailable', null])
})

test('only tokens with permission learn that a gateway does not exist', t => {
  assert.equal(ask(t, null, tokenFor(ours)).error, 'not_found')
  assert.equal(ask(t, null, tokenFor(others)).error, 'forbidden')
  assert.equal(ask(t, null, 'missing').error, 'unauthorized')
})

test('a gateway that requires no token is open', t => {
  const open = ask(t, gateway({ account: ours, authentication: false }), 'missing')
  assert.deepEqual([open.error, open.ai.token], [null, null])
})

const secret = `svct_${'kB9xQmV3nT7rLfYpWcZaHdJsGuEoIiN5tR8vXyK2MbA0c'.padEnd(49, 'Z')}`
const native = `/v1/${ours}/team-a/openai/chat/completions`
const rest = `/client/v4/accounts/${ours}/ai/v1/chat/completions`
const short = '/v1/chat/completions'

interface Asked {
  readonly path: string
  readonly fields?: readonly string[]
  readonly token?: Token | string
  readonly gateway?: Gateway | null
  readonly only?: string | null | 'store_unreachable'
  readonly defaultAccount?: string | null
}

/** Asks likewise on any path, both at once and over a store that is waited for. */
async function* judged(
  t: TestContext,
  { path, fields = [], token = 'missing', gateway = closed, ...more }: Asked,
) {
  for (const isLate of [false, true]) {
    const later = <Value>(value: Value) => (isLate ? Promise.resolve(value) : value)
    const { only = null, defaultAccount = null } = more
    const steps = stepsOver(t, [], { ai: { hosts: ['ai.test'], defaultAccount } })
    const found: unknown[] = []
    const verified: unknown[] = []
    const services = {
      gateways: {
        find: (...what: unknown[]) => {
          found.push(what)
          return later(gateway)
        },
        onlyAccount: () => later(only),
      },
      tokens: {
        verify: (...what: unknown[]) => {
          verified.push(what)
          return later(token)
        },
      },
    }
    Object.assign(steps.plane, { ai: services })
    const x = steps.exchange(request(`POST ${path}`, ...fields))
    assert.equal(locateAi(x, steps.plane.snapshot.ai!), null)
    const refusal = await authenticate(x)
    const { allowed, refused } = steps.plane.metrics.ai
    const counted = Object.entries({ ...allowed, ...refused }).flatMap(([name, { value }]) =>
      value === 0 ? [] : [name],
    )
    const text = JSON.stringify(refusal?.faults ?? null)
    yield { error: refusal?.error ?? null, text, ai: x.ai!, found, verified, counted }
  }
}

const openGateway = gateway({ account: ours, authentication: false })

test('a call is let in or refused for one reason, and counted by it', async t => {
  const good = tokenFor(ours)
  const limited = { ...good, gateways: ['other'] }
  const ofApp = (scopes: readonly string[]) =>
    ({ ...tokenFor(ours, []), actor: { scopes } }) as unknown as Token
  const cases: readonly (readonly [
    Asked,
    error: string | null,
    counted: string,
    challenge: RegExp | null,
  ])[] = [
    [{ path: native, token: good }, null, 'authenticated', null],
    [{ path: native, gateway: openGateway }, null, 'authentication_off', null],
    [{ path: native }, 'unauthorized', 'missing', /^Bearer scope="[^"]+"$/],
    [{ path: rest, token: 'expired' }, 'unauthorized', 'expired', /error="invalid_token"/],
    [{ path: native, token: 'store_unreachable' }, 'service_unavailable', 'store_unreachable', null],
    [{ path: native, token: tokenFor(others) }, 'forbidden', 'forbidden', null],
    [{ path: native, token: ofApp([]) }, 'forbidden', 'forbidden', /error="insufficient_scope"/],
    [{ path: native, token: ofApp(['ai_gateway.run']) }, 'forbidden', 'forbidden', null],
    [{ path: native, token: limited }, 'forbidden', 'forbidden', null],
    [{ path: native, token: good, gateway: null }, 'not_found', '', null],
    [{ path: short, token: good }, null, 'authenticated', null],
    [
      {
        path: short,
        token: 'expired',
        fields: [`Authorization: Bearer ${secret}`],
        only: ours,
        gateway: openGateway,
      },
      'unauthorized',
      'expired',
      /invalid_token/,
    ],
    [
      {
        path: short,
        token: 'malformed',
        fields: ['Authorization: Bearer svc'],
        only: ours,
        gateway: openGateway,
      },
      'unauthorized',
      'malformed',
      /invalid_token/,
    ],
    [
      {
        path: short,
        token: 'malformed',
        fields: ['Authorization: Bearer sk'],
        only: ours,
        gateway: openGateway,
      },
      null,
      'authentication_off',
      null,
    ],
    [{ path: short, only: ours, gateway: openGateway }, null, 'authentication_off', null],
    [
      { path: short, defaultAccount: ours, only: others, gateway: openGateway },
      null,
      'authentication_off',
      null,
    ],
    [{ path: short, only: ours }, 'unauthorized', 'missing', /^Bearer scope="[^"]+"$/],
    [{ path: short, only: 'store_unreachable' }, 'service_unavailable', 'store_unreachable', null],
  ]
  for (const [asked, error, counted, challenge] of cases)
    for await (const outcome of judged(t, asked)) {
      const label = JSON.stringify([asked.path, asked.token, asked.fields])
      assert.deepEqual([outcome.error, outcome.counted.join()], [error, counted], label)
      if (challenge === null) assert.equal(outcome.ai.challenge, null, label)
      else assert.match(outcome.ai.challenge!, challenge, label)
      const isLetIn = error === null
      assert.equal(outcome.ai.isDenied, !isLetIn && counted !== '', label)
      assert.equal(outcome.ai.gateway === null, !isLetIn)
      assert.equal(outcome.ai.token, counted === 'authenticated' ? asked.token : null)
      assert.ok(outcome.verified.length <= 1, 'verified once')
    }
  for await (const { error, ai, counted } of judged(t, { path: short }))
    assert.deepEqual(
      [error, ai.isDenied, counted, ai.challenge !== null],
      ['bad_request', true, ['missing'], true],
    )
})

test('a gateway is looked for by the account and the name that the path or a field has', async t => {
  const token = tokenFor(ours)
  const named = 'svc-aig-gateway-id: team-a'
  for (const [path, fields, id] of [
    [native, [], 'team-a'],
    [native, ['svc-aig-gateway-id: x'], 'team-a'],
    [rest, [], 'default'],
    [rest, [named], 'team-a'],
    [short, [], 'default'],
  ] as const)
    for await (const { found, ai, error } of judged(t, { path, fields, token })) {
      assert.deepEqual([found, error], [[[ours, id]], null], `${path} ${fields}`)
      assert.deepEqual([ai.account, ai.namedGateway], [ours, closed])
    }
  for await (const { found, error, text } of judged(t, { path: rest, fields: [named, named], token })) {
    assert.deepEqual([found, error], [[], 'bad_request'])
    assert.match(text, /svc-aig-gateway-id/)
  }
})

test('a credential where only the other kind of route reads it is refused as such, unless nothing can be checked', async t => {
  const [ofRest, ofNative] = [`Authorization: Bearer ${secret}`, `svc-aig-authorization: Bearer ${secret}`]
  for (const [path, fields, place, right] of [
    [native, [ofRest], 'authorization', 'svc-aig-authorization'],
    [rest, [ofNative, 'X-A: b'], 'svc-aig-authorization', 'Authorization'],
    [native, ['X-Api-Key: x', ofRest, `X-B: ${secret}`], null, 'svc-aig-authorization'],
  ] as const) {
    for await (const { error, text, ai, counted } of judged(t, { path, fields })) {
      assert.deepEqual(
        [error, counted, ai.isDenied],
        ['bad_request', ['misplaced'], true],
        `${path} ${fields}`,
      )
      assert.match(text, new RegExp(`send it as ${right}: Bearer TOKEN`))
      if (place !== null) assert.match(ai.misplacedAt!, new RegExp(place))
    }
  }
  for (const [path, fields] of [
    [native, [ofNative]],
    [rest, [ofRest]],
    [native, [ofNative, 'Authorization: Bearer sk']],
  ] as const)
    for await (const { error, ai } of judged(t, { path, fields, token: 'expired' }))
      assert.deepEqual([error, ai.misplacedAt], ['unauthorized', null])
  for await (const { error } of judged(t, { path: native, fields: [ofRest], token: 'store_unreachable' }))
    assert.equal(error, 'service_unavailable')
})
