import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseAiTarget } from '../../../src/ai/target.ts'
import { AiExchange } from '../../../src/edge/ai-call/ai-exchange.ts'
import { authenticate } from '../../../src/edge/ai/authenticate.ts'
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
