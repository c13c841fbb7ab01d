import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { endDigestOf, familyOf } from '../../../src/oauth/grants/token-family.ts'
import { AccessTokens, type Parts, tokenOf } from '../../../src/oauth/grants/access-tokens.ts'
import { AiMetrics } from '../../../src/metrics/counters/ai-metrics.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { permissions } from '../../../src/permissions/permissions.ts'
import { permits } from '../../../src/permissions/permit.ts'
import { roles } from '../../../src/permissions/roles.ts'
import type { RecordChange } from '../../../src/store/cache/read-through.ts'
import { openStore } from '../../../src/store/open.ts'
import { everybody } from '../../../src/store/records/people.ts'
import type { Api, Token } from '../../../src/store/records/records.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import { LastToken, TokenVerifier } from '../../../src/tokens/verify.ts'
import { ManualClock } from '../../help/clock.ts'
import { thorough } from '../../help/thorough.ts'
import { SteeredStore } from '../../tokens/steered-store.ts'
import { oauthGrant } from '../../store/contract-specimens.ts'
import { tokenWith } from '../../tokens/token-with.ts'
import { keepAccess } from './keep-access.ts'
import { partsWith, roleIds, superAdministrator } from './parts-with.ts'

const here = '192.0.2.7'
const grace = 600_000
const apiOf = (resource: string): Api | null =>
  resource === 'https://ai' ? 'ai' : resource === 'https://management' ? 'management' : null
const names = permissionGroups.map(({ name }) => name)
const permitted = (token: Token) => names.filter(name => permits(token, name, token.account))
const made = (parts: Parts) => tokenOf(parts, apiOf)!

/** What an API token with the permissions of these scopes would allow, or that of all roles. */
function allowing(groups: readonly string[]): string[] {
  const policy = { id: '', effect: 'allow', permissionGroups: groups, accounts: ['*'] } as const
  return permitted(tokenWith({ policies: [policy] }).token)
}

const scopes = permissions.map(({ scope }) => scope)
const idOfScope = (scope: string) => permissions.find(row => row.scope === scope)?.id ?? ''
const idsOfRole = (role: string) =>
  roles
    .find(({ id }) => id === role)!
    .permissions.map(name => permissionGroups.find(group => group.name === name)!.id)

test('a token allows what its scopes, the consent, the client and the roles all allow, and nothing else', () => {
  const some = fc.subarray(['openid', 'user.read', 'no.such', ...scopes])
  const roleSet = fc.subarray(roles.map(({ id }) => id))
  fc.assert(
    fc.property(some, some, some, roleSet, (asked, consented, registered, held) => {
      const parts = partsWith()
      const token = made({
        ...parts,
        credential: {
          ...parts.credential,
          data: { ...(parts.credential.data as object), scope: asked.join(' ') },
        },
        grant: { ...parts.grant, scopes: consented },
        client: { ...parts.client, scopes: registered },
        member: { ...parts.member, roles: held },
      })
      const left = asked.filter(scope => consented.includes(scope) && registered.includes(scope))
      const byScopes = allowing(left.map(idOfScope))
      const byRoles = allowing(held.flatMap(idsOfRole))
      assert.deepEqual(
        permitted(token),
        byScopes.filter(name => byRoles.includes(name)),
      )
      assert.deepEqual([...token.actor!.scopes].sort(), left.sort())
    }),
    { numRuns: thorough(500, 150) },
  )
})

test('a token allows nothing in another account than that of the consent', () => {
  const parts = partsWith({ scopes })
  const token = made(parts)
  assert.deepEqual(permitted(token), names)
  for (const account of [parts.client.account, everybody, '*', '0'.repeat(32)])
    for (const name of names) assert.equal(permits(token, name, account), false)
})

test('a token says who acts, and stands for the consent', () => {
  const { value: _, ...parts } = partsWith({ now: 1_000 })
  const { credential, grant, client, user, member, insider } = parts
  const token = made(parts)
  assert.deepEqual(
    { ...token, policies: [] },
    {
      account: grant.account,
      id: grant.id,
      name: client.name,
      digest: credential.digest,
      status: 'active',
      policies: [],
      notBefore: null,
      expiresOn: credential.expiresAt,
      addressesIn: [],
      addressesNotIn: [],
      issuedOn: 1_000,
      modifiedOn: 1_000,
      actor: {
        user: user.id,
        email: user.email,
        client: client.id,
        clientName: client.name,
        grant: grant.id,
        end: endDigestOf(familyOf(credential)!),
        members: [member.id, insider.id],
        scopes: ['ai_gateway.run'],
        apis: ['management', 'ai'],
      },
    },
  )
  const verified = made({ ...parts, user: { ...user, emailVerifiedAt: 1 } })
  assert.deepEqual(verified.actor, { ...token.actor, isEmailVerified: true })
})

const gone: readonly [string, (parts: ReturnType<typeof partsWith>) => Parts][] = [
  ['its user is no member of the account', parts => ({ ...parts, member: null })],
  ['its user is only invited', parts => ({ ...parts, member: { ...parts.member, status: 'pending' } })],
  ['its client is private, and its user no member there', parts => ({ ...parts, insider: null })],
  [
    'its client is private, and its user only invited there',
    parts => ({ ...parts, insider: { ...parts.insider, status: 'pending' } }),
  ],
  ['it was consumed', parts => ({ ...parts, credential: { ...parts.credential, consumedAt: 1 } })],
  [
    'it is of another consent',
    parts => ({ ...parts, credential: { ...parts.credential, grant: 'another' } }),
  ],
  [
    'it is of another client',
    parts => ({ ...parts, credential: { ...parts.credential, client: 'another' } }),
  ],
  ['it is of another user', parts => ({ ...parts, credential: { ...parts.credential, user: 'another' } })],
  [
    'the consent is for another client',
    parts => ({ ...parts, grant: { ...parts.grant, client: 'another' } }),
  ],
  ['the consent is of another user', parts => ({ ...parts, grant: { ...parts.grant, user: 'another' } })],
]
for (const [what, change] of gone)
  test(`a token is none where ${what}`, () => assert.equal(tokenOf(change(partsWith()), apiOf), null))

test('a public client is for users who are no members of its account', () => {
  const parts = partsWith()
  const token = made({ ...parts, client: { ...parts.client, visibility: 'public' }, insider: null })
  assert.deepEqual(permitted(token), ['AI Gateway Run'])
  assert.deepEqual(token.actor!.members, [parts.member.id])
})

test('a user without an account can use a public client, but only for identity', () => {
  const parts = partsWith({ account: everybody, scopes: ['openid', 'user.read', 'ai_gateway.run'] })
  const client = { ...parts.client, visibility: 'public' } as const
  const token = made({ ...parts, client, account: null, member: null, insider: null })
  assert.deepEqual(permitted(token), [])
  assert.deepEqual(token.actor!.scopes, ['openid', 'user.read', 'ai_gateway.run'])
})

for (const [aud, resource, apis] of [
  [undefined, [], ['management', 'ai']],
  ['https://ai', [], ['ai']],
  [['https://management'], [], ['management']],
  [['https://ai', 'https://management'], [], ['management', 'ai']],
  ['https://elsewhere', [], []],
  [[], [], ['management', 'ai']],
  [undefined, ['https://ai'], ['ai']],
  ['https://management', ['https://management', 'https://ai'], ['management']],
  ['https://ai', ['https://management'], []],
  [['https://ai', 'https://management'], ['https://ai'], ['ai']],
  [undefined, ['https://elsewhere'], []],
] as const)
  test(`a token for ${JSON.stringify(aud)}, of a consent for [${resource}], opens [${apis}]`, () => {
    const parts = partsWith(aud === undefined ? {} : { aud })
    assert.deepEqual(made({ ...parts, grant: { ...parts.grant, resource } }).actor!.apis, apis)
  })

for (const data of [null, 'text', [], {}, { scope: 1 }, { scope: ['ai_gateway.run'] }])
  test(`a token whose data is ${JSON.stringify(data)} allows nothing`, () => {
    const parts = partsWith()
    const token = made({ ...parts, credential: { ...parts.credential, data } })
    assert.deepEqual([permitted(token), token.actor!.scopes], [[], []])
  })

test('an account opens itself to apps that are known by a document, and everybody is open to them', () => {
  const { value: _, ...parts } = partsWith()
  const document = { url: 'https://app.example/c', scope: null, keys: [], fetchedAt: 0, expiresAt: 1 }
  const described = { ...parts, client: { ...parts.client, visibility: 'public', document } as const }
  assert.equal(tokenOf(described, apiOf), null)
  const account = { ...parts.account, allowsDocumentClients: true }
  const { actor } = made({ ...described, account })
  assert.deepEqual([actor!.clientName, actor!.clientUrl], ['app.example (A client)', document.url])
  assert.deepEqual(actor!.members, [parts.member.id], 'the account of the client counts for private ones')
  const grant = { ...parts.grant, account: everybody }
  assert.ok(tokenOf({ ...described, grant, account: null, member: null }, apiOf))
})

test('a token is for the routes that it names, of those that the person was told', () => {
  const [route, other] = ['https://api.example/orders', 'https://api.example/reports']
  const routesOf = (aud: string[] | null, resource: string[]) => {
    const { credential, grant, ...parts } = partsWith()
    const data = { ...(credential.data as object), aud }
    const made = { ...parts, credential: { ...credential, data }, grant: { ...grant, resource } }
    const { actor } = tokenOf(made, apiOf)!
    return [actor!.resources, actor!.apis]
  }
  assert.deepEqual(routesOf([route, other, 'https://ai'], [route, 'https://ai']), [[route], ['ai']])
  assert.deepEqual(routesOf(['https://ai'], [route, 'https://ai']), [undefined, ['ai']])
  assert.deepEqual(routesOf(null, ['https://ai']), [undefined, ['ai']], 'it names none')
})

test('a token without a family ends by itself alone', () => {
  const { value: _, ...parts } = partsWith()
  const data = { account: parts.grant.account, scope: '' }
  const token = made({ ...parts, credential: { ...parts.credential, data } })
  assert.equal(token.actor!.end, null)
})

test('a change concerns the tokens that it may change, and ends those of its digest alone', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const access = new AccessTokens(store, apiOf)
  const plain = made(partsWith())
  const { user, client, grant, members } = plain.actor!
  const other = 'f'.repeat(32)
  const ofRoutes = [other, 'd'.repeat(32)].map(account => ({ account, roles: [] }))
  const ofRoute = { ...plain, actor: { ...plain.actor!, memberships: ofRoutes } }
  const { actor: _, ...bare } = plain
  const told = (kind: RecordChange['kind'], id: string) => ({ kind, account: 'any', id }) as const
  for (const [change, token, isConcerned] of [
    [told('account', plain.account), plain, true],
    [told('oauth_grant', grant), plain, true],
    [told('oauth_client', client), plain, true],
    [told('user', user), plain, true],
    [told('member', members[0]!), plain, true],
    [told('account', other), plain, false],
    [told('member', other), plain, false],
    [told('account', other), ofRoute, true],
    [told('account', 'e'.repeat(32)), ofRoute, false],
    [told('member', 'e'.repeat(32)), ofRoute, true],
    [told('user', 'e'.repeat(32)), { ...bare }, true],
  ] as const)
    assert.equal(access.concerns(change, token), isConcerned, `${change.kind} ${change.id}`)
  const digest = 'f'.repeat(64)
  assert.equal(access.endedBy(told('credential', digest)), digest)
  assert.equal(access.endedBy(told('credential', other)), null)
  assert.equal(access.endedBy(told('user', digest)), null)
  assert.equal(access.groupOf(plain), plain.actor!.end)
  assert.equal(access.groupOf(bare), null)
})

test('what the store has of a token makes one where it is whole', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const access = new AccessTokens(store, apiOf)
  assert.equal(await access.find('f'.repeat(64)), null)
  const { credential, client, user } = await keepAccess(store, { now: Date.now(), scopes: ['openid'] })
  assert.ok(await access.find(credential.digest))
  const rows: readonly Partial<typeof credential>[] = [{ data: null }, { data: {} }, { grant: null }]
  for (const [i, changed] of rows.entries()) {
    const digest = `${i}`.repeat(64)
    await store.credentials.put({ ...credential, digest, ...changed })
    assert.equal(await access.find(digest), null, JSON.stringify(changed))
  }
  const consent = oauthGrant({
    ...{ account: everybody, user: user.id, client: client.id, clientAccount: client.account },
    ...{ scopes: ['openid'], resource: [] },
  })
  await store.oauthGrants.insert(consent)
  const data = { account: everybody, scope: 'openid' }
  const digest = 'e'.repeat(64)
  await store.credentials.put({ ...credential, digest, grant: consent.id, data })
  const token = (await access.find(digest))!
  assert.deepEqual(
    [token.account, token.actor!.scopes, token.actor!.members.length],
    [everybody, ['openid'], 1],
  )
})

/** Sets up a verifier on a store that has what one access token is made of. */
function setUp(wish: Parameters<typeof partsWith>[0] = {}) {
  const clock = new ManualClock()
  const steered = new SteeredStore(clock)
  const access = new AccessTokens(steered.store, apiOf)
  const options = { store: steered.store, grace, metrics: new AiMetrics(), clock, access }
  const verifier = new TokenVerifier(options)
  const { value, ...parts } = partsWith({ now: clock.now(), ...wish })
  const { digest } = parts.credential
  steered.parts.set(digest, parts)
  /** Replaces parts in the store, and tells of the changes. */
  const change = (changed: Partial<Parts>, [kind, account, id]: Told) => {
    steered.parts.set(digest, { ...steered.parts.get(digest), ...changed })
    steered.changes.tell({ kind, account, id })
  }
  const verify = (api: Api = 'ai') => verifier.verify(value, here, api)
  return { clock, steered, options, verifier, value, parts, digest, change, verify }
}

test('an access token is looked up once, and known at once from then on', async () => {
  const { verify, steered, verifier, digest } = setUp()
  const token = (await verify()) as Token
  const { asked } = steered
  assert.equal(verify(), token)
  assert.equal(verify('management'), token)
  assert.equal(steered.asked, asked)
  assert.equal(verifier.lend('access_token', digest)!.value, token)
  assert.equal(verifier.lend('token', digest), null)
})

test('what is no access token of this gateway is refused without the store, and an unknown one by one question', async () => {
  const { verifier, steered, value } = setUp()
  for (const text of [
    'svco_',
    `${value}x`,
    value.replace('svco', 'svcr'),
    value.replace('svco', 'svct'),
    mintToken('svcr_').value,
  ])
    assert.equal(verifier.verify(text, here, 'ai'), 'malformed', text)
  assert.equal(steered.asked, 0)
  const { value: unknown } = mintToken('svco_')
  assert.equal(await verifier.verify(unknown, here, 'ai'), 'unknown')
  assert.equal(verifier.verify(unknown, here, 'ai'), 'unknown')
  assert.equal(steered.asked, 1)
})

test('without access tokens, each is unknown', () => {
  const { options, value } = setUp()
  const verifier = new TokenVerifier({ ...options, access: null })
  assert.equal(verifier.verify(value, here, 'ai'), 'unknown')
})

test('a token for one API is none for the other, and ends by its time', async () => {
  const { verify, clock } = setUp({ aud: 'https://ai', life: 60_000 })
  assert.equal(typeof (await verify('ai')), 'object')
  assert.equal(verify('management'), 'other_api')
  clock.advance(59_999)
  assert.equal(typeof verify('ai'), 'object')
  clock.advance(1)
  assert.equal(verify('ai'), 'expired')
})

test('a connection that shows API tokens and access tokens in turn gets each for what it is', async () => {
  const { verifier, value, steered } = setUp()
  const api = tokenWith()
  steered.byDigest.set(api.token.digest, api.token)
  const shown = new LastToken()
  for (let i = 0; i < 3; i++) {
    for (const [shownNow, id] of [
      [value, undefined],
      [api.value, api.token.id],
    ] as const) {
      await verifier.verify(shownNow, here, 'ai', shown)
      verifier.verify(shownNow, here, 'ai', shown)
      const again = verifier.verify(shownNow, here, 'ai', shown) as Token
      assert.equal(again.actor === undefined ? again.id : undefined, id)
      assert.equal(shown.value, shownNow)
    }
  }
})

type Told = readonly [kind: RecordChange['kind'], account: string, id: string]
/** What is gone, of all parts where it is null, and what is told of it. */
type End = (
  parts: ReturnType<typeof setUp>['parts'],
) => readonly [gone: keyof Parts | 'ended' | null, told: Told]

const ends: Readonly<Record<string, End>> = {
  'it is removed': ({ credential }) => [null, ['credential', 'access_token', credential.digest]],
  'its family has ended': ({ credential }) => {
    const digest = endDigestOf(familyOf(credential)!)
    return ['ended', ['credential', 'ended_family', digest]]
  },
  'all credentials of its user are removed': ({ user }) => [null, ['credential', 'user', user.id]],
  'all credentials of its client are removed': ({ client }) => [null, ['credential', 'client', client.id]],
  'all credentials of its consent are removed': ({ grant }) => [null, ['credential', 'grant', grant.id]],
  'the consent is withdrawn': ({ grant }) => ['grant', ['oauth_grant', grant.account, grant.id]],
  'its client is deleted': ({ client }) => ['client', ['oauth_client', client.account, client.id]],
  'its user is deleted': ({ user }) => ['user', ['user', everybody, user.id]],
  'its user is removed from the account': ({ member }) => ['member', ['member', member.account, member.id]],
  'its user is removed from the account of the client': ({ insider }) => [
    'insider',
    ['member', insider.account, insider.id],
  ],
}

/** Makes an end of a token in the store, and tells it. */
function bring(end: End, { steered, parts, digest }: ReturnType<typeof setUp>): void {
  const [gone, [kind, account, id]] = end(parts)
  if (gone === null) steered.parts.delete(digest)
  else if (gone === 'ended') steered.ended.add(id)
  else steered.parts.set(digest, { ...parts, [gone]: undefined })
  steered.changes.tell({ kind, account, id })
}

for (const [what, end] of Object.entries(ends)) {
  test(`an access token is unknown as soon as it is told that ${what}`, async () => {
    const set = setUp()
    await set.verify()
    bring(end, set)
    assert.equal(await set.verify(), 'unknown')
  })

  test(`an access token that is looked up while ${what} is unknown to who asks later`, async () => {
    const set = setUp()
    const release = set.steered.hold()
    const early = set.verify()
    await turn()
    bring(end, set)
    const late = set.verify()
    release()
    assert.notEqual(await early, 'store_unreachable')
    assert.equal(await late, 'unknown')
    assert.equal(await set.verify(), 'unknown')
  })
}

test('an access token allows less as soon as a scope or a role is gone, and more when it is back', async () => {
  const { change, parts, verify } = setUp({ scopes: ['ai_gateway.run', 'ai_gateway.read'] })
  const allowed = async () => permitted((await verify()) as Token)
  const all = ['AI Gateway Read', 'AI Gateway Run']
  assert.deepEqual(await allowed(), all)
  const { client, member, grant } = parts
  change({ client: { ...client, scopes: ['ai_gateway.read'] } }, ['oauth_client', client.account, client.id])
  assert.deepEqual(await allowed(), ['AI Gateway Read'])
  change({ client }, ['oauth_client', client.account, client.id])
  assert.deepEqual(await allowed(), all)
  change({ member: { ...member, roles: roleIds('Administrator Read Only') } }, [
    'member',
    member.account,
    member.id,
  ])
  assert.deepEqual(await allowed(), ['AI Gateway Read'])
  change({ member: { ...member, roles: roleIds(superAdministrator) } }, ['member', member.account, member.id])
  assert.deepEqual(await allowed(), all)
  change({ grant: { ...grant, scopes: [] } }, ['oauth_grant', grant.account, grant.id])
  assert.deepEqual(await allowed(), [])
})

test('what ends of others, however often, leaves an access token as it is remembered', async () => {
  const { verify, steered } = setUp()
  const token = await verify()
  const { asked } = steered
  for (let i = 0; i < 100; i++) {
    steered.changes.tell({ kind: 'credential', account: 'access_token', id: mintToken().digest })
    steered.changes.tell({ kind: 'credential', account: 'user', id: 'f'.repeat(32) })
    steered.changes.tell({ kind: 'member', account: 'a', id: 'e'.repeat(32) })
  }
  assert.equal(verify(), token)
  assert.equal(steered.asked, asked)
})

test('an access token whose notice is lost ends within 5 s, and while the store is unreachable stays valid for the grace', async () => {
  const { verify, steered, clock, parts, digest } = setUp()
  const token = await verify()
  steered.changes.fallSilent()
  steered.isUnreachable = true
  clock.advance(5_001)
  assert.equal(await verify(), token)
  steered.isUnreachable = false
  steered.parts.set(digest, { ...parts, member: null })
  clock.advance(1_000)
  assert.equal(await verify(), 'unknown')
})

test('an account that requires a second factor is closed to who has none, until they have one', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const { account, user, credential } = await keepAccess(store, { scopes, now: Date.now() })
  await store.accounts.insert(account)
  const accessTokens = new AccessTokens(store, apiOf)
  const found = async () => (await accessTokens.find(credential.digest))!
  const before = await found()
  assert.deepEqual(permitted(before), names)
  await store.accounts.update(account.id, { enforceTwoFactor: true })
  const change = { kind: 'account', account: account.id, id: account.id } as const
  assert.equal(accessTokens.concerns(change, before), true)
  assert.deepEqual(permitted(await found()), [])
  const totp = { sealed: 'x', lastStep: 0, recoveryCodes: [], confirmedAt: null }
  const enrol = async (confirmedAt: number | null) => {
    const { record, version } = (await store.users.get(everybody, user.id))!
    await store.users.replace({ ...record, totp: { ...totp, confirmedAt } }, version)
  }
  await enrol(null)
  assert.deepEqual(permitted(await found()), [])
  await enrol(1)
  assert.deepEqual(permitted(await found()), names)
})

test('a token for a route has the memberships of its user, but those of accounts that do not allow the app', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const route = 'https://api.example/orders'
  const kept = await keepAccess(store, { scopes, now: Date.now(), aud: route })
  const { value, account, grant, client, member } = kept
  const other = 'f'.repeat(32)
  await store.accounts.insert({ ...account, allowsDocumentClients: true })
  await store.accounts.insert({ ...account, id: other })
  await store.members.insert({ ...member, id: 'e'.repeat(32), account: other, roles: [] })
  const consent = (await store.oauthGrants.get(grant.account, grant.id))!
  await store.oauthGrants.replace({ ...consent.record, resource: [route] }, consent.version)
  const access = new AccessTokens(store, apiOf)
  const found = async () => (await access.find(kept.credential.digest))!
  const token = await found()
  const own = { account: account.id, roles: member.roles }
  assert.deepEqual(new Set(token.actor!.memberships), new Set([own, { account: other, roles: [] }]))
  const { record, version } = (await store.oauthClients.get(client.account, client.id))!
  const times = { fetchedAt: 0, expiresAt: 0 }
  const document = { url: 'https://app.example/client', scope: null, keys: [], ...times }
  await store.oauthClients.replace({ ...record, document }, version)
  assert.deepEqual((await found()).actor!.memberships, [own])

  const verifier = new TokenVerifier({ store, grace, metrics: new AiMetrics(), access })
  const { memberships: _, ...older } = token.actor!
  verifier.adopt('access_token', token.digest, { value: { ...token, actor: older }, age: 0 })
  const verified = await verifier.verify(value, here, 'route')
  assert.deepEqual(verified, await found(), 'what an older version lent does not count')
})
