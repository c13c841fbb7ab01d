// The places that questions about responses have while they wait: each account has its share, and all together are bounded.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { GuardWebhooks } from '../../../src/guard/webhook/guard-webhooks.ts'
import { sealWebhookSecret } from '../../../src/guard/webhook/secret.ts'
import { AiMetrics } from '../../../src/metrics/counters/ai-metrics.ts'
import { guardSecret, trusting } from '../../help/guard-receiver.ts'
import { startOrigin } from '../../help/origin.ts'

const secrets = new SecretKeys(Buffer.alloc(32, 1))

/** Asks a webhook that never answers a handshake. */
async function start(t: TestContext) {
  const silent = await startOrigin(t, () => {})
  const url = silent.url.replace('http:', 'https:')
  const webhooks = new GuardWebhooks({
    ...{ secrets: () => secrets, clock: systemClock, metrics: new AiMetrics(), warnings: { warn: () => {} } },
    ...trusting,
  })
  const left = new AbortController()
  t.after(async () => {
    left.abort()
    await webhooks.close()
  })
  const outcomes: unknown[] = []
  const ask = async (account: string, text = 'Ada') => {
    const gateway = { account, id: 'default' }
    const sealed = sealWebhookSecret(secrets, guardSecret, gateway)
    const webhook = { url, checks: ['response'], timeout: 60_000, sealed } as const
    const question = {
      ...{ gateway, webhook, ray: 'r', model: null },
      check: 'response',
      texts: [text],
    } as const
    outcomes.push(await webhooks.ask(question, left.signal))
  }
  return { ask, outcomes }
}

test('250 responses of an account wait for their turn, one more is not asked about, and another account is', async t => {
  const { ask, outcomes } = await start(t)
  for (let i = 0; i < 64 + 250; i++) void ask('a')
  assert.deepEqual(outcomes, [])
  await ask('a')
  assert.deepEqual(outcomes, ['busy'])
  for (let i = 0; i < 64 + 250; i++) void ask('b')
  assert.deepEqual(outcomes, ['busy'])
  await ask('b')
  assert.deepEqual(outcomes, ['busy', 'busy'])
})

test('64 MiB of responses wait', async t => {
  const { ask, outcomes } = await start(t)
  const text = 'x'.repeat(2 ** 20 - 500)
  for (let i = 0; i < 64 + 64; i++) void ask('a', text)
  assert.deepEqual(outcomes, [])
  await ask('a', text)
  await ask('b', text)
  assert.deepEqual(outcomes, ['busy', 'busy'])
})
