import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyRing } from '../../../src/ai/key-ring.ts'
import { Providers } from '../../../src/ai/providers.ts'
import { parseAiTarget } from '../../../src/ai/target.ts'
import { AiExchange } from '../../../src/edge/ai/ai-exchange.ts'
import { AiFields } from '../../../src/edge/ai/ai-fields.ts'
import { bringsCredential, providerFields } from '../../../src/edge/ai/outbound-call.ts'
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
    const ai = new AiExchange(parseAiTarget(path)!, new AiFields(x.head))
    ai.provider = route.provider
    ai.path = route.path
    const linesWhere = (isTraced: boolean) =>
      providerFields(x.head, ai, new KeyRing(['ours']), 0, isTraced)
        .split('\r\n')
        .slice(0, -1)
    assert.deepEqual(linesWhere(false), ['Accept: */*', 'OpenAI-Beta: x', 'traceparent: 00-x', credential])
    assert.deepEqual(linesWhere(true), ['Accept: */*', 'OpenAI-Beta: x', credential])
    assert.equal(bringsCredential(x.head, ai), credential !== 'authorization: Bearer ours')
  }
})
