// What becomes of a request by what its gates say of it.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Admission, GateFault } from '../../../src/edge/gates/gate.ts'
import type { Gate } from '../../../src/edge/gates/gates.ts'
import { protect } from '../../../src/edge/protect/protect.ts'
import { HeaderChanges } from '../../../src/edge/rewrite/headers.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

type Outcome = Admission | GateFault
type Says = (token: string | null) => Outcome | Promise<Outcome>

const admissionOf = (subject: string, ...names: string[]): Admission => ({
  ...{ subject, claims: {}, changes: new HeaderChanges(new Set(names), [], []) },
  isCurrent: () => true,
})
const fault = (kind: GateFault['kind'], more: Partial<GateFault> = {}): GateFault => ({
  ...{ kind, cause: { code: `GH_${kind}` }, wait: 0, challenge: null },
  ...more,
})

/** Puts gates before a route that say what the test wants. */
function stage(t: TestContext, ...all: readonly Says[]) {
  const steps = stepsOver(t, ['http://127.0.0.1:9'])
  const gates = all.map(check => ({ kind: 'jwt', check })) as unknown as readonly Gate[]
  const make = (...fields: string[]) => {
    const x = steps.located(request('GET /', ...fields))
    x.route = { ...x.route!, gates }
    return x
  }
  return { steps, gates, make }
}

test('the first gate that lets a request in decides what its origin gets, and the others are not asked', async t => {
  for (const isLate of [false, true]) {
    const later = (outcome: Outcome) => (isLate ? Promise.resolve(outcome) : outcome)
    const says = [later(fault('invalid')), later(admissionOf('second', 'x-a')), later(admissionOf('third'))]
    const asked: number[] = []
    const all = says.map((outcome, i) => () => {
      asked.push(i)
      return outcome
    })
    const { make } = stage(t, ...all)
    const x = make('X-A: 1', 'X-B: 2')
    assert.equal(await protect(x), null)
    assert.deepEqual([x.admission!.subject, asked], ['second', [0, 1]])
    assert.deepEqual(x.outgoing.fields.slice(-2), ['X-B', '2'])
    assert.ok(!x.outgoing.fields.includes('X-A'))
  }
})

test('a token is what follows Bearer in the only Authorization', t => {
  const seen: (string | null)[] = []
  const { make } = stage(t, token => {
    seen.push(token)
    return fault('missing')
  })
  for (const fields of [
    [],
    ['Authorization: Bearer a'],
    ['Authorization: bearer\ta'],
    ['Authorization: Basic YTpi'],
    ['Authorization: Bearera'],
    ['Authorization: Bearer'],
    ['Authorization: Bearer a, b'],
    ['Authorization: Bearer a', 'Authorization: Bearer a'],
  ])
    protect(make(...fields))
  assert.deepEqual(seen, [null, 'a', 'a', null, null, '', '', ''])
})

test('of several faults, the one that is closest to being let in decides', async t => {
  const kinds = ['unavailable', 'insufficient', 'invalid', 'missing'] as const
  const statuses = {
    unavailable: 'service_unavailable',
    insufficient: 'forbidden',
    invalid: 'unauthorized',
    missing: 'unauthorized',
  }
  for (const [i, one] of kinds.entries())
    for (const other of kinds.slice(i)) {
      const { make } = stage(
        t,
        () => fault(other),
        () => Promise.resolve(fault(one)),
      )
      const refusal = await protect(make())
      assert.ok(refusal !== null && refusal !== 'responded')
      assert.deepEqual(
        [refusal.error, refusal.cause],
        [statuses[one], { code: `GH_${one}` }],
        `${one} ${other}`,
      )
    }
})

test('a refusal has each challenge once, the wait of its gate, and words of its kind', t => {
  const refusalOf = (...faults: readonly GateFault[]) => {
    const x = stage(t, ...faults.map(fault => () => fault)).make()
    const refusal = protect(x)
    assert.ok(refusal !== null && refusal !== 'responded' && !(refusal instanceof Promise))
    return {
      ...refusal,
      lines: x.addedLines,
      heading: refusal.wording?.heading,
      guidance: refusal.wording?.guidance,
    }
  }
  const [bearer, other] = [
    fault('missing', { challenge: 'Bearer' }),
    fault('missing', { challenge: 'Bearer scope="a"' }),
  ]
  assert.equal(
    refusalOf(bearer, other, bearer, fault('missing')).lines,
    'WWW-Authenticate: Bearer\r\nWWW-Authenticate: Bearer scope="a"\r\n',
  )
  const away = refusalOf(bearer, fault('unavailable', { wait: 7 }))
  assert.deepEqual([away.lines, away.retryAfter], ['', 7])
  assert.equal(
    refusalOf(fault('unavailable')).retryAfter,
    refusalOf(fault('unavailable', { wait: 0 })).retryAfter,
  )
  assert.notEqual(refusalOf(fault('unavailable')).retryAfter, 0)
  assert.match(refusalOf(bearer).heading!, /needs a token/)
  assert.doesNotMatch(refusalOf(bearer).guidance!, /resource_metadata/)
  assert.match(
    refusalOf(fault('missing', { challenge: 'Bearer resource_metadata="x"' })).guidance!,
    /resource_metadata/,
  )
  assert.match(refusalOf(fault('invalid')).heading!, /not valid here/)
  assert.match(refusalOf(fault('insufficient')).heading!, /does not allow/)
  const wording = { heading: 'Own', detail: 'own', guidance: 'own' }
  for (const kind of ['missing', 'invalid', 'insufficient'] as const)
    assert.equal(refusalOf(fault(kind, { wording })).heading, 'Own')
})

test('a browser is led to sign in where a gate leads there, and nobody else is', t => {
  const [page, call] = ['Accept: text/html', 'Accept: application/json']
  for (const [accept, faults, isLed] of [
    [page, [fault('missing', { leadsToSignIn: true })], true],
    [page, [fault('missing'), fault('invalid', { leadsToSignIn: true })], true],
    [call, [fault('missing', { leadsToSignIn: true })], false],
    [page, [fault('missing')], false],
    [page, [fault('insufficient'), fault('missing', { leadsToSignIn: true })], false],
    [page, [fault('unavailable'), fault('missing', { leadsToSignIn: true })], false],
  ] as const) {
    const x = stage(t, ...faults.map(fault => () => fault)).make(accept)
    assert.equal(protect(x) === 'responded', isLed)
    assert.equal(x.status === 303, isLed)
  }
})

test("the response of an authorizer is the client's, with challenges only where it asks for a credential", t => {
  for (const [status, isAsked] of [
    [302, false],
    [401, true],
  ] as const) {
    const relayed = { status, lines: 'X-A: b\r\n', body: 'no' }
    const { make } = stage(
      t,
      () => fault('missing', { challenge: 'Bearer' }),
      () => fault('refused', { relayed }),
    )
    const x = make()
    assert.equal(protect(x), 'responded')
    assert.equal(x.status, status)
    assert.match(x.seen.written, /\r\nX-A: b\r\nContent-Length: 2\r\n(?:.+\r\n)+\r\nno$/)
    assert.equal(x.seen.written.includes('WWW-Authenticate'), isAsked)
  }
})

test('a later request of the same lines passes by the same admission while that is current', t => {
  let [asked, isCurrent] = [0, true]
  const admission = { ...admissionOf('alice', 'x-a'), isCurrent: () => isCurrent }
  const { make, steps, gates } = stage(t, () => {
    asked++
    return admission
  })
  const first = make('X-A: 1', 'X-B: 2')
  assert.equal(protect(first), null)
  const again = (host = first.head.host, of = gates) => {
    const x = steps.located(request('GET /'))
    x.route = { ...x.route!, gates: of }
    Object.assign(x, { client: first.client, head: Object.assign(x.head, { host }) })
    x.head.takeLines(first.head)
    x.head.host = host
    x.outgoing = x.head
    asked = 0
    assert.equal(protect(x), null)
    assert.equal(x.admission, admission)
    assert.deepEqual(x.outgoing.fields.filter((_, i) => i % 2 === 0).includes('X-A'), false)
    assert.equal(x.outgoing.host, host)
    return asked
  }
  assert.equal(again(), 0)
  assert.equal(again('other.test'), 1)
  assert.equal(again(), 1, 'the one before was for another host')
  assert.equal(again(first.head.host, [...gates]), 1)
  isCurrent = false
  assert.equal(again(), 1)
})

test('an open route beside gates loses their fields, and others lose none', t => {
  const { steps } = stage(t)
  const x = steps.located(request('GET /', 'X-A: 1'))
  assert.equal(protect(x), null)
  assert.deepEqual([x.admission, x.outgoing], [null, x.head])
  x.route = { ...x.route!, stranger: admissionOf('nobody', 'x-a') }
  assert.equal(protect(x), null)
  assert.ok(!x.outgoing.fields.includes('X-A'))
  const plain = steps.located(request('GET /', 'X-B: 1'))
  plain.route = x.route
  assert.equal(protect(plain), null)
  assert.equal(plain.outgoing, plain.head, 'nothing to change')
})

test('nobody is let in by tokens where none can be checked, and no authorizer is asked twice', t => {
  const { steps } = stage(t)
  const ask = (kind: string, ...fields: string[]) => {
    const x = steps.located(request('GET /', ...fields))
    const gate = { kind, check: () => assert.fail(), ask: () => assert.fail(), config: { send: [] } }
    x.route = { ...x.route!, gates: [gate] as unknown as readonly Gate[] }
    const refusal = protect(x)
    assert.ok(refusal !== null && refusal !== 'responded' && !(refusal instanceof Promise))
    return refusal.error
  }
  assert.equal(ask('token'), 'service_unavailable')
  assert.equal(ask('forward', `CDN-Loop: ${steps.plane.snapshot.name}`), 'dns_loop')
  assert.equal(ask('forward', `X-Api-Key: ${mintToken().value}`), 'bad_request')
  assert.equal(ask('forward', `Authorization: Bearer ${mintToken().value}`), 'bad_request')
  assert.equal(ask('forward', 'Authorization: Basic a', 'Authorization: Basic a'), 'unauthorized')
})
