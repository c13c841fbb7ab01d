import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import type { Token } from '../../src/store/records/records.ts'
import { mintToken, taggerOf } from '../../src/tokens/token.ts'
import { LastToken, TokenVerifier } from '../../src/tokens/verify.ts'
import { anyCharacter } from '../help/any-text.ts'
import { ManualClock } from '../help/clock.ts'
import { thorough } from '../help/thorough.ts'
import { SteeredStore } from './steered-store.ts'
import { tokenWith } from './token-with.ts'

const here = '192.0.2.7'
const grace = 600_000

/** Sets up a verifier on a store that keeps one token. */
function setUp(members: Partial<Token> = {}) {
  const clock = new ManualClock()
  const steered = new SteeredStore(clock)
  const metrics = new AiMetrics()
  const verifier = new TokenVerifier({ store: steered.store, grace, metrics, clock })
  const { value, token } = tokenWith(members)
  steered.byDigest.set(token.digest, token)
  const change = () => steered.changes.tell({ kind: 'token', account: token.account, id: token.id })
  /** Replaces the token in the store, and tells. */
  const update = (changed: Partial<Token>) => {
    steered.byDigest.set(token.digest, { ...token, ...changed })
    change()
  }
  return { clock, steered, metrics, verifier, value, token, change, update }
}

test('a token is looked up once, and found in memory from then on', async () => {
  const { verifier, value, token, metrics } = setUp()
  assert.deepEqual(await verifier.verify(value, here, 'ai'), token)
  assert.deepEqual(verifier.verify(value, here, 'ai'), token)
  assert.equal(metrics.lookups.asked.value, 1)
  assert.equal(metrics.lookups.remembered.value, 1)
})

test('missing and malformed tokens are refused without the store', () => {
  const { verifier, steered, value } = setUp()
  assert.equal(verifier.verify(null, here, 'ai'), 'missing')
  for (const text of ['', 'svct_', `${value}x`, `${value.slice(0, -1)}${value.endsWith('A') ? 'Q' : 'A'}`])
    assert.equal(verifier.verify(text, here, 'ai'), 'malformed')
  assert.equal(steered.asked, 0)
})

test('a token that nobody keeps is unknown, at once the second time', async () => {
  const { verifier, steered } = setUp()
  const { value } = mintToken()
  assert.equal(await verifier.verify(value, here, 'ai'), 'unknown')
  assert.equal(verifier.verify(value, here, 'ai'), 'unknown')
  assert.equal(steered.asked, 1)
})

/** Sets up a verifier that knows which tokens were made, and a token that is kept. */
function setUpTags() {
  const { clock, steered, metrics } = setUp()
  const tagger = taggerOf(Buffer.alloc(32, 7))
  const read: string[] = []
  const mayExist = (value: string) => {
    read.push(value)
    return tagger.verifies(value)
  }
  const tags = { mayExist }
  const verifier = new TokenVerifier({ store: steered.store, grace, metrics, clock, tags })
  const { value, digest } = mintToken('svct_', tagger)
  steered.byDigest.set(digest, tokenWith({ digest }).token)
  return { steered, metrics, verifier, value, digest, tagger, read }
}

test('a token that was never made is unknown without the store, whether that is reachable or not', () => {
  const { steered, metrics, verifier } = setUpTags()
  const others = [mintToken().value, mintToken('svct_', taggerOf(Buffer.alloc(32, 8))).value]
  for (const isUnreachable of [false, true]) {
    steered.isUnreachable = isUnreachable
    for (const value of others) assert.equal(verifier.verify(value, here, 'ai'), 'unknown')
  }
  assert.deepEqual([steered.asked, metrics.lookups.asked.value], [0, 0])
})

test('the tag of a good token is not read again while the token is remembered', async () => {
  const { verifier, value, read } = setUpTags()
  await verifier.verify(value, here, 'ai')
  verifier.verify(value, here, 'ai')
  read.length = 0
  for (let i = 0; i < 3; i++) assert.equal(typeof verifier.verify(value, here, 'ai'), 'object')
  assert.deepEqual(read, [])
})

test('a made-up token that seems familiar is unknown without the store', async () => {
  const { steered, verifier, value, read } = setUpTags()
  for (let i = 0; i < 2; i++) await verifier.verify(value, here, 'ai')
  // What is remembered of a good token are a few bits of its end.
  const twin = mintToken().value + value.slice(-11)
  assert.equal(verifier.verify(twin, here, 'ai'), 'unknown')
  assert.equal(steered.asked, 1)
  assert.equal(read.at(-1), twin)
})

test('a token that was made is looked up, and unknown where it was revoked', async () => {
  const { steered, verifier, value, digest, tagger } = setUpTags()
  assert.equal(((await verifier.verify(value, here, 'ai')) as Token).digest, digest)
  const { value: revoked } = mintToken('svct_', tagger)
  for (let i = 0; i < 3; i++) assert.equal(await verifier.verify(revoked, here, 'ai'), 'unknown')
  assert.equal(steered.asked, 2)
})

test('a change of another token, or of another account, leaves a token in memory', async () => {
  const { verifier, steered, value, token } = setUp()
  await verifier.verify(value, here, 'ai')
  steered.changes.tell({ kind: 'token', account: token.account, id: '0'.repeat(32) })
  steered.changes.tell({ kind: 'token', account: '0'.repeat(32), id: token.id })
  assert.deepEqual(verifier.verify(value, here, 'ai'), token)
  assert.equal(steered.asked, 1)
})

test('a record that is found under a digest not its own is unknown', async () => {
  const { verifier, steered, token } = setUp()
  const { value, digest } = mintToken()
  steered.byDigest.set(digest, token)
  assert.equal(await verifier.verify(value, here, 'ai'), 'unknown')
})

test('a disabled token is refused, and works again when it is active again', async () => {
  const { verifier, value, update } = setUp({ status: 'disabled' })
  assert.equal(await verifier.verify(value, here, 'ai'), 'disabled')
  update({ status: 'active' })
  assert.equal(((await verifier.verify(value, here, 'ai')) as Token).status, 'active')
})

test('a token is valid from not_before on, up to but not at expires_on, by the clock of each use', async () => {
  const start = new ManualClock().now()
  const { verifier, value, token, clock } = setUp({ notBefore: start + 1_000, expiresOn: start + 2_000 })
  assert.equal(await verifier.verify(value, here, 'ai'), 'not_yet_valid')
  clock.advance(999)
  assert.equal(verifier.verify(value, here, 'ai'), 'not_yet_valid')
  clock.advance(1)
  assert.deepEqual(verifier.verify(value, here, 'ai'), token)
  clock.advance(999)
  assert.deepEqual(verifier.verify(value, here, 'ai'), token)
  clock.advance(1)
  assert.equal(verifier.verify(value, here, 'ai'), 'expired')
})

test('a token is used from the networks it allows and not from those it denies', async () => {
  const { verifier, value, token } = setUp({
    addressesIn: ['192.0.2.0/24', '2001:db8::/32'],
    addressesNotIn: ['192.0.2.66'],
  })
  assert.deepEqual(await verifier.verify(value, here, 'ai'), token)
  assert.deepEqual(verifier.verify(value, '::ffff:192.0.2.7', 'ai'), token)
  assert.deepEqual(verifier.verify(value, '2001:db8::1', 'ai'), token)
  for (const address of ['192.0.2.66', '::ffff:192.0.2.66', '198.51.100.1', '2001:db9::1', 'nonsense', ''])
    assert.equal(verifier.verify(value, address, 'ai'), 'address_denied', address)
  assert.equal(verifier.verify(value, null, 'ai'), 'address_unknown')
})

test('a token that is only denied somewhere works elsewhere', async () => {
  const { verifier, value, token } = setUp({ addressesNotIn: ['198.51.100.0/24'] })
  assert.deepEqual(await verifier.verify(value, here, 'ai'), token)
  assert.equal(verifier.verify(value, '198.51.100.1', 'ai'), 'address_denied')
})

test('a token that was rolled or deleted is unknown as soon as the change is reported', async () => {
  const { verifier, value, token, steered, change } = setUp()
  await verifier.verify(value, here, 'ai')
  steered.byDigest.delete(token.digest)
  change()
  assert.equal(await verifier.verify(value, here, 'ai'), 'unknown')
})

test('a token that was disabled is refused within 5 s when its notice is lost', async () => {
  const { verifier, value, token, steered, clock } = setUp()
  await verifier.verify(value, here, 'ai')
  steered.changes.fallSilent()
  steered.byDigest.set(token.digest, { ...token, status: 'disabled' })
  clock.advance(5_001)
  assert.equal(await verifier.verify(value, here, 'ai'), 'disabled')
})

test('while the store is unreachable a verified token stays valid for the grace, and an unknown one is refused as such', async () => {
  const { verifier, value, token, steered, clock } = setUp()
  await verifier.verify(value, here, 'ai')
  steered.isUnreachable = true
  steered.changes.fallSilent()
  assert.equal(await verifier.verify(mintToken().value, here, 'ai'), 'store_unreachable')
  clock.advance(grace)
  assert.deepEqual(await verifier.verify(value, here, 'ai'), token)
  clock.advance(1_000)
  assert.equal(await verifier.verify(value, here, 'ai'), 'store_unreachable')
  steered.isUnreachable = false
  steered.changes.speakAgain()
  assert.deepEqual(await verifier.verify(value, here, 'ai'), token)
})

test('a token expires while the store is unreachable, too', async () => {
  const expiresOn = new ManualClock().now() + 60_000
  const { verifier, value, steered, clock } = setUp({ expiresOn })
  await verifier.verify(value, here, 'ai')
  steered.isUnreachable = true
  steered.changes.fallSilent()
  clock.advance(60_000)
  assert.equal(await verifier.verify(value, here, 'ai'), 'expired')
})

test('a bug of the store is not taken for an absence', async () => {
  const { verifier, value, steered } = setUp()
  steered.look = () => Promise.reject(new TypeError('a bug'))
  await assert.rejects(async () => verifier.verify(value, here, 'ai'), TypeError)
})

test('whatever is sent from wherever, the verdict is a fault', async () => {
  const { verifier } = setUp()
  await fc.assert(
    fc.asyncProperty(fc.option(fc.string({ unit: anyCharacter })), fc.string(), async (value, address) => {
      assert.equal(await verifier.verify(value, address, 'ai'), value === null ? 'missing' : 'malformed')
    }),
  )
})

const scanned = thorough(100_000, 30_000)

test(`a scan of ${scanned} random tokens asks once for each and leaves the heap flat`, async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { verifier, steered, value, token } = setUp()
  await verifier.verify(value, here, 'ai')
  const scan = async (count: number) => {
    for (let i = 0; i < count; i++) await verifier.verify(mintToken().value, here, 'ai')
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = await scan(20_000)
  const after = await scan(scanned)
  assert.ok(after - before < 1_000_000, `${after - before} bytes more`)
  assert.equal(steered.asked, 20_001 + scanned)
  assert.deepEqual(verifier.verify(value, here, 'ai'), token)
})

test('the last token of a connection is verified again each time, and nothing else passes for it', async () => {
  const { verifier, value, token, update, steered } = setUp()
  const shown = new LastToken()
  await verifier.verify(value, here, 'ai', shown)
  assert.deepEqual(verifier.verify(value, here, 'ai', shown), token)
  assert.equal(shown.value, null)
  assert.deepEqual(verifier.verify(value, here, 'ai', shown), token)
  assert.equal(shown.value, value)
  assert.deepEqual(verifier.verify(value, here, 'ai', shown), token)
  assert.equal(verifier.verify(`${value.slice(0, -1)}!`, here, 'ai', shown), 'malformed')
  assert.equal(await verifier.verify(mintToken().value, here, 'ai', shown), 'unknown')
  update({ status: 'disabled' })
  assert.equal(await verifier.verify(value, here, 'ai', shown), 'disabled')
  steered.byDigest.clear()
})

test('a malformed token is refused without the store on a new connection', () => {
  const { verifier, steered } = setUp()
  assert.equal(verifier.verify('', here, 'ai', new LastToken()), 'malformed')
  assert.equal(steered.asked, 0)
})

test('a connection that remembers its last token is told the same as one that does not', async () => {
  const there = '198.51.100.9'
  const names = ['open', 'narrow', 'made up', 'broken', 'none', 'empty'] as const
  const step = fc.oneof(
    fc.record({
      what: fc.constant('show'),
      token: fc.constantFrom(...names),
      from: fc.constantFrom(here, there, null),
    }),
    fc.record({
      what: fc.constantFrom('disable', 'enable', 'remove'),
      token: fc.constantFrom('open', 'narrow'),
    }),
    fc.record({ what: fc.constant('wait'), ms: fc.constantFrom(1, 500, 5_001) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async steps => {
      const { clock, steered, verifier } = setUp()
      const tokens = {
        open: tokenWith(),
        narrow: tokenWith({ id: 'b'.repeat(32), addressesIn: [`${here}/32`] }),
      }
      const kept = new Map<string, Token>()
      const put = (name: 'open' | 'narrow', changed: Partial<Token> | null) => {
        const { token } = tokens[name]
        if (changed === null) kept.delete(token.digest)
        else kept.set(token.digest, { ...token, ...changed })
        steered.byDigest.clear()
        for (const [digest, token] of kept) steered.byDigest.set(digest, token)
        steered.changes.tell({ kind: 'token', account: token.account, id: token.id })
      }
      put('open', {})
      put('narrow', {})
      const { value: madeUp } = mintToken()
      const values: Record<(typeof names)[number], string | null> = {
        open: tokens.open.value,
        narrow: tokens.narrow.value,
        'made up': madeUp,
        broken: `${tokens.open.value.slice(0, -1)}!`,
        none: null,
        empty: '',
      }
      const shown = new LastToken()
      for (const step of steps) {
        if ('ms' in step) await clock.advance(step.ms)
        else if ('from' in step) {
          const value = values[step.token]
          const remembered = await verifier.verify(value, step.from, 'ai', shown)
          assert.deepEqual(remembered, await verifier.verify(value, step.from, 'ai'))
        } else if (step.what === 'remove') put(step.token, null)
        else put(step.token, { status: step.what === 'disable' ? 'disabled' : 'active' })
      }
    }),
  )
})

test('a good use is told of, and the next one from when on it is wanted', async () => {
  const { clock, steered, metrics } = setUp()
  const { value, token } = tokenWith()
  steered.byDigest.set(token.digest, token)
  const told: [string, number][] = []
  const used = ({ id }: Token) => {
    told.push([id, clock.now()])
    return clock.now() + 1_000
  }
  const verifier = new TokenVerifier({ store: steered.store, grace, metrics, clock, used })
  const start = clock.now()
  await verifier.verify(value, here, 'ai')
  verifier.verify(value, here, 'ai')
  clock.advance(999)
  verifier.verify(value, here, 'management')
  // One that only looks leaves uses to the other.
  clock.advance(1)
  assert.deepEqual(verifier.countingIn(new AiMetrics()).verify(value, here, 'ai'), token)
  assert.equal(told.length, 1)
  verifier.verify(value, here, 'ai')
  assert.deepEqual(told, [
    [token.id, start],
    [token.id, start + 1_000],
  ])
})

test('a use is not told of where the token is refused, or one of an app', async () => {
  const { clock, steered, metrics } = setUp()
  const verifier = new TokenVerifier({
    ...{ store: steered.store, grace, metrics, clock },
    used: () => assert.fail('told'),
  })
  const actor = { apis: ['ai'] } as unknown as NonNullable<Token['actor']>
  for (const [members, verdict] of [
    [{ status: 'disabled' }, 'disabled'],
    [{ expiresOn: 1 }, 'expired'],
    [{ addressesIn: ['198.51.100.1'] }, 'address_denied'],
    [{ actor }, null],
  ] as const) {
    const { value, token } = tokenWith(members as Partial<Token>)
    steered.byDigest.set(token.digest, token)
    assert.deepEqual(await verifier.verify(value, here, 'ai'), verdict ?? token)
  }
})
