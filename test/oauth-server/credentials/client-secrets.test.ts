import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Limiter } from '../../../src/limits/limiter.ts'
import type { SecretUses } from '../../../src/oauth/clients/secret-uses.ts'
import { mintSecret } from '../../../src/oauth/clients/secret.ts'
import { ClientSecrets } from '../../../src/oauth-server/credentials/client-secrets.ts'
import { ManualClock } from '../../help/clock.ts'
import { birth, clientWith, keys } from '../../oauth/clients/client-with.ts'

const minute = 60_000
const hour = 60 * minute

function start() {
  const clock = new ManualClock()
  const used: unknown[] = []
  const uses = { note: (_: unknown, { digest }: { readonly digest: string }) => used.push(digest) }
  const secrets = new ClientSecrets(keys, uses as unknown as SecretUses, new Limiter({ clock }), clock)
  return { clock, used, secrets }
}

test('each secret of a client is right, and its use is noted; any other is wrong', async () => {
  const { used, secrets } = start()
  const [newer, older, foreign] = [1, 2, 3].map(() => mintSecret(keys, birth))
  const client = clientWith({ secrets: [newer!.secret, older!.secret] })
  for (const { value } of [newer!, older!])
    assert.deepEqual(await secrets.judge(client, value), { kind: 'right' })
  assert.deepEqual(used, [newer!.secret.digest, older!.secret.digest])
  const tails = `one that ends in ${newer!.secret.tail} and one that ends in ${older!.secret.tail}`
  const reason = `the secret is not that of the client, which has ${tails}`
  for (const value of [foreign!.value, '', `${newer!.value}x`])
    assert.deepEqual(await secrets.judge(client, value), { kind: 'wrong', reason })
  assert.equal(used.length, 2)
})

test('a secret that was deleted is wrong, with when that was', async () => {
  const { clock, secrets } = start()
  const { value, secret } = mintSecret(keys, birth)
  const judge = async (age: number) => {
    const deletedSecret = { ...secret, deletedAt: clock.now() - age }
    const verdict = await secrets.judge(clientWith({ deletedSecret }), value)
    assert.ok(verdict.kind === 'wrong')
    return /deleted (.*) ago$/.exec(verdict.reason)?.[1]
  }
  for (const [age, text] of [
    [-minute, '0 min'],
    [90_000, '2 min'],
    [119 * minute, '119 min'],
    [2 * hour, '2 h'],
    [47 * hour + 59 * minute, '48 h'],
    [48 * hour, '2 d'],
    [60 * 24 * hour, '60 d'],
  ] as const)
    assert.equal(await judge(age), text)
})

test('a client has sixty wrong secrets a minute, which keep out neither the right one nor other clients', async () => {
  const { clock, secrets } = start()
  const { value, secret } = mintSecret(keys, birth)
  const client = clientWith({ secrets: [secret] })
  for (let i = 0; i < 60; i++) assert.equal((await secrets.judge(client, 'wrong')).kind, 'wrong')
  const verdict = await secrets.judge(client, 'wrong')
  assert.ok(verdict.kind === 'throttled' && verdict.wait >= 1 && verdict.wait <= 120, JSON.stringify(verdict))
  clock.advance(30_000)
  assert.equal((await secrets.judge(client, 'wrong')).kind, 'throttled')
  assert.equal((await secrets.judge(client, value)).kind, 'right')
  assert.equal((await secrets.judge(clientWith(), 'wrong')).kind, 'wrong')
  clock.advance(2 * minute)
  assert.equal((await secrets.judge(client, 'wrong')).kind, 'wrong')
})
