// Access tokens and personal tokens beside those of the API: what each opens, and until when.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import type { RecordChange } from '../../src/store/cache/read-through.ts'
import type { Actor, Token } from '../../src/store/records/records.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { TokenVerifier } from '../../src/tokens/verify.ts'
import { ManualClock } from '../help/clock.ts'
import { SteeredStore } from './steered-store.ts'
import { account, tokenWith } from './token-with.ts'

const here = '192.0.2.7'
const person = { user: 'u', email: 'a@b.example', member: 'm' }
const actorWith = (more: Partial<Actor>) => ({ apis: [], scopes: [], ...more }) as unknown as Actor
const ofApi = { apis: ['ai', 'management'] } as const
const ofRoute = { resources: ['https://site.test/'], memberships: [] }

type Options = ConstructorParameters<typeof TokenVerifier>[0]

function setUp(more: Partial<Options> = {}) {
  const clock = new ManualClock()
  const steered = new SteeredStore(clock)
  const metrics = new AiMetrics()
  const announced: unknown[] = []
  /** Access tokens by their digests, and what has ended since. */
  const granted = new Map<string, Token>()
  const reach = new Map<string, Token | null>()
  const access: NonNullable<Options['access']> = {
    find: digest => granted.get(digest) ?? null,
    kinds: ['credential', 'oauth_grant'],
    concerns: ({ id }, { actor }) => actor!.grant === id,
    endedBy: change => (change.kind === 'credential' ? change.id : null),
    groupOf: ({ actor }) => actor!.end,
  }
  const people: NonNullable<Options['people']> = {
    reach: token => reach.get(token.id) ?? null,
    kinds: ['member'],
    concerns: ({ id }, token) => token.person?.member === id,
  }
  const announce: Options['announce'] = (kind, digest) => announced.push([kind, digest])
  const options = { store: steered.store, grace: 1_000, metrics, clock, access, people, announce, ...more }
  const verifier = new TokenVerifier(options)
  const grant = (more: Partial<Actor>, members: Partial<Token> = {}) => {
    const { value, digest } = mintToken('svco_')
    const { token } = tokenWith({ digest, actor: actorWith(more), ...members })
    granted.set(digest, token)
    return { value, token }
  }
  const keep = (members: Partial<Token> = {}) => {
    const made = tokenWith(members)
    steered.byDigest.set(made.token.digest, made.token)
    return made
  }
  const tell = (change: RecordChange) => steered.changes.tell(change)
  return { clock, steered, metrics, announced, granted, reach, options, verifier, grant, keep, tell }
}

test('an access token opens the APIs of its audience, and a route only where it is for one', async () => {
  const { verifier, grant } = setUp()
  for (const [actor, opened] of [
    [ofApi, ['ai', 'management']],
    [{ apis: ['ai'] }, ['ai']],
    [ofRoute, ['route']],
  ] as const) {
    const { value, token } = grant(actor as Partial<Actor>)
    for (const api of ['ai', 'management', 'route'] as const) {
      const expected = opened.includes(api as never) ? token : 'other_api'
      assert.equal(await verifier.verify(value, here, api), expected, api)
    }
  }
})

test('a personal token makes AI calls with the rights that its owner has by now, and opens nothing else', async () => {
  const { verifier, keep, reach, tell, options } = setUp()
  const { value, token } = keep({ person })
  reach.set(token.id, { ...token, name: 'within reach' })
  const made = await verifier.verify(value, here, 'ai')
  assert.equal((made as Token).name, 'within reach')
  for (const api of ['management', 'route'] as const)
    assert.equal(await verifier.verify(value, here, api), 'other_api')
  reach.set(token.id, null)
  tell({ kind: 'member', account, id: 'another' })
  assert.equal(await verifier.verify(value, here, 'ai'), made)
  tell({ kind: 'member', account, id: 'm' })
  assert.equal(await verifier.verify(value, here, 'ai'), 'unknown')
  const without = new TokenVerifier({ ...options, people: null })
  assert.equal(await without.verify(value, here, 'ai'), 'unknown')
  tell({ kind: 'member', account, id: 'm' })
})

test('without access tokens, each of them is unknown', () => {
  const { verifier, grant, metrics } = setUp({ access: null })
  assert.equal(verifier.verify(grant(ofApi).value, here, 'ai'), 'unknown')
  assert.deepEqual([metrics.lookups.remembered.value, metrics.lookups.asked.value], [1, 0])
  assert.deepEqual([verifier.lend('access_token', 'a'), [...verifier.loans()]], [null, []])
})

test('an access token ends with what it was made of, alone or with its group', async () => {
  const { verifier, granted, grant, tell } = setUp()
  const [one, other] = ['one', 'other'].map(grant_ =>
    grant({ ...ofApi, grant: grant_, end: `end of ${grant_}` }),
  )
  const verdicts = () => [one!, other!].map(({ value }) => verifier.verify(value, here, 'ai'))
  assert.deepEqual(verdicts(), [one!.token, other!.token])
  granted.clear()
  tell({ kind: 'credential', account, id: 'end of nothing' })
  tell({ kind: 'member', account, id: 'one' })
  tell({ kind: 'oauth_grant', account, id: 'another' })
  assert.deepEqual(verdicts(), [one!.token, other!.token])
  tell({ kind: 'oauth_grant', account, id: 'one' })
  assert.deepEqual(verdicts(), ['unknown', other!.token])
  tell({ kind: 'credential', account, id: 'end of other' })
  assert.deepEqual(verdicts(), ['unknown', 'unknown'])
})

test('a verified token is current while it is the one in the cache, and until it expires', async () => {
  for (const kind of ['token', 'access_token'] as const) {
    const uses: string[] = []
    const used = ({ id }: Token) => {
      uses.push(id)
      return clock.now() + 500
    }
    const { clock, verifier, grant, keep, tell } = setUp({ used: kind === 'token' ? used : undefined })
    const expiresOn = clock.now() + 1_000
    const { value, token } =
      kind === 'token' ? keep({ expiresOn }) : grant({ ...ofApi, grant: 'g' }, { expiresOn })
    assert.equal(verifier.isCurrent(token), false)
    assert.equal(await verifier.verify(value, here, 'ai'), token)
    assert.equal(verifier.isCurrent(token), true)
    assert.equal(verifier.isCurrent({ ...token }), false)
    clock.advance(500)
    assert.equal(verifier.isCurrent(token), true)
    clock.advance(499)
    assert.equal(verifier.isCurrent(token), true)
    assert.deepEqual(uses, kind === 'token' ? [token.id, token.id] : [])
    clock.advance(1)
    assert.equal(verifier.isCurrent(token), false)
    if (kind === 'token') tell({ kind, account, id: token.id })
    else tell({ kind: 'oauth_grant', account, id: 'g' })
    assert.equal(verifier.isCurrent(token), false)
  }
})

test('a token is reviewed by its digest as it would be verified', async () => {
  const { verifier, grant, keep, tell, steered } = setUp()
  for (const { token } of [keep({ addressesIn: [here] }), grant(ofApi, { addressesIn: [here] })]) {
    assert.equal(await verifier.review(token, here, 'ai'), token)
    assert.equal(await verifier.review(token, '192.0.2.8', 'ai'), 'address_denied')
    assert.equal(await verifier.review(token, here, 'route'), token.actor ? 'other_api' : token)
  }
  const { token } = keep()
  await verifier.review(token, null, 'ai')
  steered.byDigest.delete(token.digest)
  tell({ kind: 'token', account, id: token.id })
  assert.equal(await verifier.review(token, null, 'ai'), 'unknown')
})

test('a cached token is lent and adopted with its age, and announced once it was found', async () => {
  const { verifier, clock, grant, keep, announced, options, steered, metrics } = setUp()
  const { token: plain, value } = keep()
  const { token: ofApp, value: access } = grant(ofApi)
  assert.equal(verifier.lend('token', plain.digest), null)
  await verifier.verify(value, here, 'ai')
  await verifier.verify(access, here, 'ai')
  assert.deepEqual(announced, [
    ['token', plain.digest],
    ['access_token', ofApp.digest],
  ])
  clock.advance(10)
  steered.changes.fallSilent()
  clock.advance(20)
  assert.deepEqual(verifier.lend('token', plain.digest), { value: plain, age: 20 })
  assert.deepEqual(
    [...verifier.loans()],
    [
      ['token', plain.digest, { value: plain, age: 20 }],
      ['access_token', ofApp.digest, { value: ofApp, age: 20 }],
    ],
  )
  steered.isUnreachable = true
  const other = new TokenVerifier({ ...options, access: { ...options.access!, find: () => null } })
  other.adopt('token', plain.digest, { value: plain, age: 20 })
  other.adopt('access_token', ofApp.digest, { value: ofApp, age: 20 })
  assert.equal(await other.verify(value, here, 'ai'), plain)
  assert.equal(await other.verify(access, here, 'ai'), ofApp)
  steered.isUnreachable = false
  steered.changes.speakAgain()
  const { lookups } = metrics
  const told = lookups.told.value
  const third = new TokenVerifier(options)
  await third.recall('token', plain.digest)
  await third.recall('access_token', ofApp.digest)
  const asked = lookups.asked.value
  assert.equal(third.verify(value, here, 'ai'), plain)
  assert.equal(third.verify(access, here, 'ai'), ofApp)
  assert.deepEqual([lookups.told.value - told, lookups.asked.value - asked], [2, 0])
})

test('a token of a route is adopted only from a version that says what its user is a member of', async () => {
  const { verifier, steered, grant } = setUp()
  steered.changes.fallSilent()
  const { memberships: _, ...before } = ofRoute
  for (const [actor, isAdopted] of [
    [ofRoute, true],
    [ofApi, true],
    [before, false],
  ] as const) {
    const { token } = grant(actor as Partial<Actor>)
    verifier.adopt('access_token', token.digest, { value: token, age: 0 })
    assert.equal(verifier.lend('access_token', token.digest) !== null, isAdopted)
  }
})

test('while the store is unreachable, a token of another process is borrowed', async () => {
  const { token, value } = tokenWith()
  const asked: unknown[] = []
  const borrow: Options['borrow'] = async (...what) => {
    asked.push(what)
    return what[1] === token.digest ? { value: token, age: 0 } : null
  }
  const { verifier, steered } = setUp({ borrow })
  steered.isUnreachable = true
  steered.changes.fallSilent()
  const { value: stranger, digest } = mintToken()
  assert.equal(await verifier.verify(value, here, 'ai'), token)
  assert.equal(await verifier.verify(stranger, here, 'ai'), 'store_unreachable')
  assert.deepEqual(asked, [
    ['token', token.digest],
    ['token', digest],
  ])
})
