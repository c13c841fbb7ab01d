import assert from 'node:assert/strict'
import { onStores } from '../on-stores.ts'

const minute = 60_000

onStores('five attempts of a user in ten minutes, over all processes', async village => {
  const throttles = [village.parts.throttle, (await village.elsewhere()).throttle]
  const attempt = (i: number) => throttles[i % 2]!.attempt('a@example.com', `192.0.2.${i}`)
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => attempt(i)))
  const refused = all.flatMap(one => ('retryAfter' in one ? [one.retryAfter] : []))
  assert.equal(refused.length, 15)
  for (const seconds of refused) assert.ok(seconds > 590 && seconds <= 620, String(seconds))
  assert.ok('forgive' in (await throttles[0]!.attempt('b@example.com', '192.0.2.99')))
  village.clock.advance(11 * minute)
  assert.ok('forgive' in (await attempt(0)))
})

onStores(
  'twenty attempts of an address, an IPv6 network being one; what a locked user asks for counts for none',
  async village => {
    const { throttle } = village.parts
    const attempt = (user: string, host: number) =>
      throttle.attempt(user, `2001:db8:0:1::${host.toString(16)}`)
    for (let i = 0; i < 30; i++) await attempt('locked@example.com', i)
    for (let i = 0; i < 15; i++) assert.ok('forgive' in (await attempt(`${i}@example.com`, i)), String(i))
    assert.ok('retryAfter' in (await attempt('next@example.com', 1)))
    assert.ok('forgive' in (await throttle.attempt('next@example.com', '2001:db8:0:2::1')))
    assert.ok((await throttle.signUp('2001:db8:0:1::77'))! > 0)
    assert.equal(await throttle.signUp('2001:db8:0:2::77'), null)
  },
)

onStores('an attempt that was right counts for nothing', async village => {
  const { throttle } = village.parts
  for (let i = 0; i < 30; i++) {
    const attempt = await throttle.attempt('a@example.com', '192.0.2.1')
    assert.ok('forgive' in attempt)
    await attempt.forgive()
  }
})
