import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyRing } from '../../../src/ai/providers/key-ring.ts'
import { Providers } from '../../../src/ai/providers/providers.ts'
import { parseAiTarget } from '../../../src/ai/target.ts'
import { AiExchange } from '../../../src/edge/ai-call/ai-exchange.ts'
import { bringsCredential, providerFields } from '../../../src/edge/ai-call/outbound-call.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

const account = 'a'.repeat(32)

test('a provider gets what is for it, one credential, and nothing of ours', t => {
  const steps = stepsOver(t, [])
  const route = new Providers({ providers: [] }).native('openai', '/chat/completions')
  assert.ok(!('error' in route))
  for (const [brought, credential] of [
    [[], 'authorization: Bearer ours'],
    [['Authorization: Bearer theirs'], 'Authorization: Bearer theirs'],
    [['Authorization: Bearer a', 'X-Api-Key: b'], 'Authorization: Bearer a'],
    [['X-Api-Key: b'], 'authorization: Bearer ours'],
  ] as const) {
    const path = `/v1/${account}/default/openai/chat/completions`
    const x = steps.exchange(
      request(
        `POST ${path}`,
        'Accept: */*',
        'Cookie: session=1',
        'svc-aig-authorization: Bearer svct',
        'svc_aig_metadata: {}',
        'X-Forwarded-For: 203.0.113.7',
        'OpenAI-Beta: x',
        'traceparent: 00-x',
        ...brought,
      ),
    )
    const ai = new AiExchange(parseAiTarget(path)!, x.head, x.client.last)
    ai.provider = route.provider
    ai.path = route.path
    const linesWhere = (isTraced: boolean) =>
      providerFields(x.head, ai, x.client.last, new KeyRing(['ours']), 0, isTraced)
        .split('\r\n')
        .slice(0, -1)
    assert.deepEqual(linesWhere(false), ['Accept: */*', 'OpenAI-Beta: x', 'traceparent: 00-x', credential])
    assert.deepEqual(linesWhere(true), ['Accept: */*', 'OpenAI-Beta: x', credential])
    assert.equal(bringsCredential(x.head, ai), credential !== 'authorization: Bearer ours')
  }
})

test('a call that repeats the lines of another has them written for its own provider and API', t => {
  const x = stepsOver(t, []).exchange(
    request(
      'POST /',
      'Authorization: Bearer theirs',
      'X-Api-Key: key',
      'Accept-Encoding: gzip',
      'Openai-Beta: x',
    ),
  )
  const providers = new Providers({ providers: [] })
  const linesOf = (provider: string, path: string, change: Partial<AiExchange> = {}, head = x.head) => {
    const target = parseAiTarget(path)!
    const route = providers.native(provider, '/chat/completions')
    assert.ok(!('error' in route))
    const ai = Object.assign(new AiExchange(target, head, x.client.last), route, change)
    return providerFields(head, ai, x.client.last, new KeyRing(['ours']), 0)
      .split('\r\n')
      .slice(0, -1)
  }
  const native = (provider: string) => `/v1/${account}/default/${provider}/chat/completions`
  const rest = `/client/v4/accounts/${account}/ai/v1/chat/completions`
  const toOpenai = ['Accept-Encoding: gzip', 'Openai-Beta: x', 'Authorization: Bearer theirs']
  assert.deepEqual(linesOf('openai', native('openai')), toOpenai)
  assert.deepEqual(linesOf('openai', rest), [...toOpenai.slice(0, 2), 'authorization: Bearer ours'])
  assert.deepEqual(linesOf('openai', native('openai'), { providerDialect: 'anthropic' }), [
    toOpenai[0],
    toOpenai[2],
  ])
  const rewriting = {} as AiExchange['rewriting']
  assert.deepEqual(linesOf('openai', native('openai'), { rewriting }), [
    'Openai-Beta: x',
    'Accept-Encoding: identity',
    'Authorization: Bearer theirs',
  ])
  assert.deepEqual(linesOf('openai', native('openai')), toOpenai)
  assert.ok(linesOf('anthropic', native('anthropic')).includes('X-Api-Key: key'))
  const { head } = stepsOver(t, []).exchange(request('POST /', 'Authorization: Bearer other'))
  assert.deepEqual(linesOf('anthropic', native('anthropic'), {}, head)[0], 'Authorization: Bearer other')
  assert.deepEqual(linesOf('openai', native('openai')), toOpenai)
})
