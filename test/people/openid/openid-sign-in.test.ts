import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { pino } from 'pino'
import { Invitations, reissueInvitation } from '../../../src/people/links/invitations.ts'
import { GroupRoles } from '../../../src/people/openid/group-roles.ts'
import { OpenIdProvider, type OpenIdSettings } from '../../../src/people/openid/openid-provider.ts'
import { OpenIdSignIn } from '../../../src/people/openid/openid-sign-in.ts'
import { OwnAccount } from '../../../src/people/sign-in/own-account.ts'
import { digestOfValue, newValue } from '../../../src/people/records/secret-value.ts'
import { isStale, type Session } from '../../../src/people/sessions/sessions.ts'
import { SignIn } from '../../../src/people/sign-in/sign-in.ts'
import { roleOf } from '../../../src/permissions/roles.ts'
import { everybody, isEmailVerified } from '../../../src/store/records/people.ts'
import { credential, oauthGrant } from '../../store/contract-specimens.ts'
import { settleWithApp } from '../enrol.ts'
import { passkeys } from '../../store/contract-specimens.ts'
import { onStores, type Village, visit } from '../on-stores.ts'
import { password } from '../settlement.ts'
import { redirectUri, RunningProvider, walk } from './openid-provider.ts'

const grace = { email: 'grace@example.com', email_verified: true }
const ada = { email: 'Ada@Example.com', email_verified: true, given_name: 'Ada', family_name: 'Lovelace' }
const minute = 60_000

/** Opens the way in by a provider; `lines` is what the log has. */
function wayIn({ parts }: Village, settings: OpenIdSettings, isOpen = false, send = fetch) {
  const lines: string[] = []
  const log = pino({}, { write: line => void lines.push(line) })
  const [signIn, invitations] = [new SignIn(parts), new Invitations(parts)]
  const provider = new OpenIdProvider(settings, send)
  const groupRoles = new GroupRoles({ store: parts.store, mapping: settings.groups?.roles ?? [], log })
  const openId = new OpenIdSignIn(parts, { provider, signIn, invitations, groupRoles, isOpen, log })
  const browser = newValue().value
  const begin = async (loginHint: string, isFresh = false, invitation: string | null = null) => {
    const begun = await openId.begin(
      { browser, next: '/auth/account', redirectUri, loginHint, isFresh, invitation },
      visit,
    )
    assert.ok(begun.outcome === 'sent')
    return walk(begun.url)
  }
  const finish = (url: URL, session: string | null = null) => openId.finish({ browser, url }, visit, session)
  return {
    openId,
    lines,
    browser,
    begin,
    finish,
    arrive: async (subject: string, session?: string) => finish(await begin(subject), session),
  }
}

let shared: RunningProvider
before(async () => {
  shared = await RunningProvider.launch()
})
after(() => shared?.kill())

/** Opens a village to what the provider knows of Ada; unless one is given, it is the same for all: each browser is new to it. */
async function start(village: Village, isOpen = false, provider = shared) {
  await provider.knows({ ada })
  return { provider, ...wayIn(village, provider.settings, isOpen) }
}

onStores(
  'who is new becomes a user without membership where that is open, and is the same user next time',
  async village => {
    const { provider, arrive } = await start(village, true)
    const first = await arrive('ada')
    assert.ok(first.outcome === 'signed_in', JSON.stringify(first))
    const { user, session, next } = first
    assert.deepEqual(
      [user.email, user.firstName, user.lastName, user.password, next],
      ['ada@example.com', 'Ada', 'Lovelace', null, '/auth/account'],
    )
    assert.deepEqual(user.identity, { issuer: provider.settings.issuer, subject: 'ada' })
    assert.equal(session.method, 'openid')
    assert.deepEqual(await village.store.members.ofUser(user.id), [])
    await provider.knows({ ada: { email: 'moved@example.com', email_verified: false } })
    const again = await arrive('ada')
    assert.ok(again.outcome === 'signed_in')
    const { emailVerifiedAt, modifiedAt } = again.user
    assert.deepEqual([emailVerifiedAt, again.user], [null, { ...user, emailVerifiedAt, modifiedAt }])
  },
)

onStores('an address is proved as long as the provider says that it has verified it', async village => {
  const { provider, arrive } = await start(village, true)
  const account = await village.found()
  const invited = await village.settle({ email: 'ada@example.com', password: null })
  await village.join(invited, account)
  const verified = async (claims: object) => {
    await provider.knows({ ada: claims })
    const done = await arrive('ada')
    assert.ok(done.outcome === 'signed_in')
    assert.deepEqual(done.user, (await village.store.users.get(everybody, done.user.id))!.record)
    return isEmailVerified(done.user)
  }
  assert.equal(isEmailVerified(invited), false)
  assert.equal(await verified(ada), true)
  for (const claims of [
    { ...ada, email: 'moved@example.com' },
    { ...ada, email_verified: false },
    { ...ada, email_verified: 'false' },
    { ...ada, email_verified: 1 },
    { email: ada.email },
    {},
  ]) {
    assert.equal(await verified(claims), false, JSON.stringify(claims))
    assert.equal(await verified({ email: 'ADA@EXAMPLE.COM', email_verified: 'true' }), true)
  }
  const told = (await village.told(account)).map(entry => (entry as readonly unknown[])[4])
  assert.deepEqual(told, [['identity'], ...Array(12).fill(['email_verified'])])
})

onStores('groups at the provider give roles at each sign-in, and take them away', async village => {
  const account = await village.found()
  const role = { group: 'gateway-admins', role: 'AI Gateway Admin', account: account.id } as const
  const settings = {
    ...shared.settings,
    groups: { claim: 'groups', scope: 'groups', roles: [role] },
  }
  const { arrive, lines } = wayIn(village, settings, true)
  const rolesWith = async (groups: unknown) => {
    await shared.knows({ ada: { ...ada, ...(groups !== undefined && { groups }) } })
    const done = await arrive('ada')
    assert.ok(done.outcome === 'signed_in', JSON.stringify(done))
    const [member] = await village.store.members.ofUser(done.user.id)
    return member?.roles.map(id => roleOf(id)!.name) ?? null
  }
  assert.equal(await rolesWith(undefined), null)
  assert.deepEqual(await rolesWith(['staff', 'gateway-admins']), ['AI Gateway Admin'])
  assert.equal(lines.length, 0)
  assert.equal(await rolesWith('gateway-admins'), null)
  assert.equal(lines.filter(line => line.includes('ignored: no list')).length, 1)
  assert.deepEqual(await rolesWith(['gateway-admins']), ['AI Gateway Admin'])
  assert.equal(await rolesWith(undefined), null)
})

onStores(
  'of an invitation knows the owner of the address, however it is written, and no squatter',
  async village => {
    const { provider, arrive } = await start(village, true)
    const invitations = new Invitations(village.parts)
    const spellings = {
      'grace@xn--exmple-cua.com': ['Grace@XN--EXMPLE-CUA.com', ' grace@xn--exmple-cua.com '],
      'ada.l@example.com': ['ADA.L@example.COM'],
    }
    for (const [email, written] of Object.entries(spellings))
      for (const [i, claimed] of written.entries()) {
        const squatter =
          (await village.store.users.findByEmail(email))?.record ?? (await village.settle({ email }))
        const account = await village.found()
        const { id } = await village.join(squatter, account, { status: 'pending' })
        if (i === 0) {
          assert.deepEqual(await invitations.pendingOf(squatter), [])
          assert.equal(await invitations.decline(squatter, id, visit), false)
        }
        await provider.knows({ [email]: { email: claimed, email_verified: true } })
        const owner = await arrive(email)
        assert.ok(owner.outcome === 'signed_in', JSON.stringify(owner))
        assert.equal(owner.user.id, squatter.id)
        const pending = await invitations.pendingOf(owner.user)
        assert.deepEqual(
          pending.map(({ member }) => member.id),
          [id],
        )
        assert.equal((await invitations.acceptPending(owner.user, id, visit)).outcome, 'accepted')
      }
    for (const email of [
      'grace@ex\u00e4mple.com',
      'grace@exa\u0308mple.com',
      'gr\u00e4ce@example.com',
      'ada.l\uff20example.com',
    ]) {
      await provider.knows({ other: { email, email_verified: true } })
      assert.partialDeepStrictEqual(await arrive('other'), {
        outcome: 'refused',
        reason: 'no_verified_email',
      })
    }
  },
)

onStores('a member is matched by the verified address, once', async village => {
  const { arrive, provider } = await start(village)
  const account = await village.found()
  const user = await village.settle({ email: 'ada@example.com', firstName: 'Augusta', password: null })
  await village.join(user, account)
  const done = await arrive('ada')
  assert.ok(done.outcome === 'signed_in', JSON.stringify(done))
  assert.deepEqual([done.user.id, done.user.firstName, done.user.lastName], [user.id, 'Augusta', 'Lovelace'])
  assert.deepEqual(await village.told(account), [[user.id, 'update', 'user', user.id, ['identity']]])
  await provider.knows({ ada, impostor: ada })
  const refused = await arrive('impostor')
  assert.partialDeepStrictEqual(refused, {
    outcome: 'refused',
    reason: 'other_identity',
    next: '/auth/account',
  })
})

/** Keeps a member with a password and what they have let in: a session, and an app with a token. */
async function settleWithAll(village: Village) {
  const account = await village.found()
  const user = await village.settle({ email: 'ada@example.com' })
  await village.join(user, account)
  const proof = { method: 'password', secondFactor: false, at: village.clock.now() } as const
  const session = (await village.parts.sessions.begin(user, proof, visit)).value
  const grant = oauthGrant({ account: account.id, user: user.id })
  await village.store.oauthGrants.insert(grant)
  const token = credential('refresh_token', { user: user.id, grant: grant.id })
  await village.store.credentials.put(token)
  village.clock.advance(1_000)
  const left = async () => ({
    hasSession: (await village.parts.sessions.find(session)) !== null,
    hasGrant: (await village.store.oauthGrants.get(account.id, grant.id)) !== null,
    hasToken: (await village.store.credentials.get('refresh_token', token.digest)) !== null,
  })
  return { account, user, session, grant, left }
}

onStores(
  'what somebody set and let in by an invitation to the address of another is over once its owner comes',
  async village => {
    const { arrive } = await start(village)
    const { account, user, grant, left } = await settleWithAll(village)
    const done = await arrive('ada')
    assert.ok(done.outcome === 'signed_in')
    assert.deepEqual([done.user.id, done.user.password], [user.id, null])
    assert.deepEqual(await left(), { hasSession: false, hasGrant: false, hasToken: false })
    const tried = await new SignIn(village.parts).withPassword({ email: user.email, password }, visit)
    assert.equal(tried.outcome, 'refused')
    assert.deepEqual((await village.told(account)).toSorted(), [
      [user.id, 'revoke', 'oauth_grant', grant.id, []],
      [user.id, 'update', 'user', user.id, ['identity', 'password']],
    ])
  },
)

onStores('who is signed in when they first come from the provider keeps all they had', async village => {
  const { arrive } = await start(village)
  const { account, user, session, left } = await settleWithAll(village)
  const done = await arrive('ada', session)
  assert.ok(done.outcome === 'signed_in')
  assert.deepEqual([done.user.id, done.user.password], [user.id, user.password])
  assert.deepEqual(await left(), { hasSession: false, hasGrant: true, hasToken: true })
  assert.deepEqual(await village.told(account), [[user.id, 'update', 'user', user.id, ['identity']]])
})

onStores(
  'what somebody set who signed up with the address of another opens nothing once its owner comes',
  async village => {
    const { arrive } = await start(village, true)
    const { user } = await settleWithApp(village, { email: 'ada@example.com' })
    const proof = { method: 'password', secondFactor: true, at: village.clock.now() } as const
    const squatting = await village.parts.sessions.begin(user, proof, visit)
    village.clock.advance(1_000)
    const done = await arrive('ada')
    assert.ok(done.outcome === 'signed_in')
    assert.deepEqual([done.user.id, done.user.password, done.user.totp], [user.id, null, null])
    assert.equal(await village.parts.sessions.find(squatting.value), null)
    assert.ok(await village.parts.sessions.find(done.value))
    const tried = await new SignIn(village.parts).withPassword({ email: user.email, password }, visit)
    assert.equal(tried.outcome, 'refused')
  },
)

onStores(
  'passkeys go with the password, which alone would sign in; the app of a member stays',
  async village => {
    const { arrive } = await start(village)
    const account = await village.found()
    const { user } = await settleWithApp(village, { email: 'ada@example.com', passkeys: passkeys() })
    await village.join(user, account)
    const done = await arrive('ada')
    assert.ok(done.outcome === 'needs_code')
    const { record } = (await village.store.users.get(everybody, user.id))!
    assert.deepEqual([record.password, record.passkeys], [null, undefined])
    assert.deepEqual([record.totp, record.recoveryCodes], [user.totp, user.recoveryCodes])
  },
)

onStores('an address that the provider has not verified matches nobody, and makes nobody', async village => {
  const { provider, arrive } = await start(village, true)
  for (const email of ['ada@example.com', 'kay@example.com']) await village.settle({ email })
  for (const claims of [
    { ...ada, email_verified: false },
    { email: ada.email },
    { ...ada, email_verified: 'TRUE' },
    { email_verified: true },
    { email: 'no address', email_verified: true },
    { email: '\u212aay@example.com', email_verified: true },
  ]) {
    await provider.knows({ ada: claims })
    const refused = await arrive('ada')
    assert.partialDeepStrictEqual(refused, {
      outcome: 'refused',
      reason: 'no_verified_email',
      next: '/auth/account',
    })
  }
  assert.equal((await village.store.users.list(everybody, { offset: 0, limit: 10 })).total, 2)
})

onStores(
  'who is not invited is refused where only those are let in, and one who says no is not let in either',
  async village => {
    const { arrive } = await start(village)
    assert.partialDeepStrictEqual(await arrive('ada'), {
      outcome: 'refused',
      reason: 'not_invited',
      next: '/auth/account',
    })
    assert.deepEqual(await arrive('nobody'), { outcome: 'denied', next: '/auth/account' })
    assert.equal((await village.store.users.list(everybody, { offset: 0, limit: 10 })).total, 0)
  },
)

onStores('a return counts once, in its own browser, for ten minutes', async village => {
  const { openId, begin, finish } = await start(village, true)
  const url = await begin('ada')
  const stranger = newValue().value
  assert.deepEqual(await openId.finish({ browser: stranger, url }, visit), { outcome: 'expired' })
  const all = await Promise.all([finish(url), finish(url), finish(url)])
  assert.deepEqual(all.map(({ outcome }) => outcome).toSorted(), ['expired', 'expired', 'signed_in'])
  for (const state of ['', 'x', newValue().value])
    assert.equal((await finish(new URL(`${redirectUri}?code=x&state=${state}`))).outcome, 'expired')
  const late = await begin('ada')
  village.clock.advance(10 * minute + 1_000)
  assert.deepEqual(await finish(late), { outcome: 'expired' })
})

onStores('the store does not have the secret of a link to which a sign-in leads', async village => {
  const { openId, finish, browser } = await start(village, true)
  const next = `/auth/invitation?token=${newValue().value}`
  const begun = await openId.begin({ browser, next, redirectUri, loginHint: 'ada' }, visit)
  assert.ok(begun.outcome === 'sent')
  const state = new URL(begun.url).searchParams.get('state')!
  const kept = await village.store.credentials.get('sign_in', digestOfValue(state))
  assert.ok(kept && !JSON.stringify(kept).includes(next.slice(-43)))
  assert.partialDeepStrictEqual(await finish(await walk(begun.url)), { outcome: 'signed_in', next })
})

onStores('a code that is not of this attempt, or a response of another issuer, fails', async village => {
  const { begin, finish, lines } = await start(village, true)
  const [mine, other] = [await begin('ada'), await begin('ada')]
  mine.searchParams.set('code', other.searchParams.get('code')!)
  assert.deepEqual(await finish(mine), { outcome: 'failed', next: '/auth/account' })
  const foreign = await begin('ada')
  foreign.searchParams.set('iss', 'https://elsewhere.example')
  assert.deepEqual(await finish(foreign), { outcome: 'failed', next: '/auth/account' })
  assert.equal(lines.length, 2)
  assert.ok(!lines.join().includes(other.searchParams.get('code')!))
})

onStores('a second factor is asked for here, too', async village => {
  const { arrive } = await start(village)
  const account = await village.found()
  const { user, code } = await settleWithApp(village, { email: 'ada@example.com' })
  await village.join(user, account)
  const asked = await arrive('ada')
  assert.ok(asked.outcome === 'needs_code')
  const done = await new SignIn(village.parts).withCode({ ticket: asked.ticket, code: code() }, visit)
  assert.ok(done.outcome === 'signed_in')
  assert.deepEqual([done.session.method, done.session.secondFactor], ['openid', true])
})

/** Returns how many minutes ago the person of a session has proved who they are; null where that is not known. */
function ageOf({ authenticatedAt }: Session, { clock }: Village): number | null {
  return authenticatedAt === null ? null : Math.floor((clock.now() - authenticatedAt) / minute)
}

onStores('a session is as old as the sign-in at the provider, with a code of an app too', async village => {
  const { provider, arrive } = await start(village)
  const conduct = { ago: 36_000 }
  await provider.knows({ ada, grace }, { ada: conduct, grace: conduct })
  const user = await village.settle({ email: 'ada@example.com', password: null })
  const first = await arrive('ada')
  assert.ok(first.outcome === 'signed_in')
  assert.equal(first.user.id, user.id)
  assert.deepEqual([ageOf(first.session, village), isStale(first.session, village.clock.now())], [600, true])
  const own = new OwnAccount(village.parts)
  assert.deepEqual(await own.beginTotp(first), { outcome: 'stale' })

  const account = await village.found()
  const { user: member, code } = await settleWithApp(village, { email: 'grace@example.com' })
  await village.join(member, account)
  const asked = await arrive('grace')
  assert.ok(asked.outcome === 'needs_code')
  const done = await new SignIn(village.parts).withCode({ ticket: asked.ticket, code: code() }, visit)
  assert.ok(done.outcome === 'signed_in')
  assert.deepEqual([ageOf(done.session, village), isStale(done.session, village.clock.now())], [600, true])
})

onStores('a provider that does not say when lets people in, and proves nothing lately', async village => {
  const { provider, arrive, begin, finish } = await start(village, true)
  await provider.knows({ ada }, { ada: { claims: { auth_time: null } } })
  const done = await arrive('ada')
  assert.ok(done.outcome === 'signed_in')
  assert.deepEqual([done.session.authenticatedAt, isStale(done.session, village.clock.now())], [null, true])
  const kept = (await village.parts.sessions.find(done.value))!
  assert.equal(kept.session.authenticatedAt, null)
  const refused = await finish(await begin('ada', true), done.value)
  assert.deepEqual(refused, { outcome: 'not_fresh', next: '/auth/account' })
  assert.ok(await village.parts.sessions.find(done.value), 'the session that was there goes on')
})

onStores('an ID token for another party, or of the future, signs nobody in', async village => {
  const { provider, arrive, lines } = await start(village, true)
  const seconds = (more: number) => Math.floor(Date.now() / 1_000) + more
  const { clientId } = provider.settings
  for (const claims of [
    { azp: 'another client' },
    { azp: '' },
    { azp: [clientId] },
    { aud: [clientId, 'another client'] },
    { aud: [clientId, 'another client'], azp: 'another client' },
    { aud: 'another client', azp: clientId },
    { iat: seconds(120) },
    { auth_time: seconds(120) },
    { auth_time: seconds(120), iat: seconds(120), exp: seconds(3_600) },
  ]) {
    await provider.knows({ ada }, { ada: { claims } })
    const refused = await arrive('ada')
    assert.deepEqual(refused, { outcome: 'failed', next: '/auth/account' }, JSON.stringify(claims))
  }
  assert.equal(lines.length, 9)
  for (const claims of [
    { azp: clientId },
    { aud: [clientId, 'another client'], azp: clientId },
    { iat: seconds(20), auth_time: seconds(20) },
  ]) {
    await provider.knows({ ada }, { ada: { claims } })
    const done = await arrive('ada')
    assert.ok(done.outcome === 'signed_in', JSON.stringify(claims))
    assert.ok(done.session.authenticatedAt! <= village.clock.now(), 'never of the future')
  }
})

onStores('a fresh proof is asked of the provider, and an old one is none', async village => {
  const { openId, begin, finish, browser, provider } = await start(village, true)
  const begun = await openId.begin({ browser, next: '/', redirectUri, isFresh: true }, visit)
  assert.ok(begun.outcome === 'sent')
  const { searchParams } = new URL(begun.url)
  assert.deepEqual([searchParams.get('prompt'), searchParams.get('max_age')], ['login', '0'])
  assert.equal(searchParams.get('code_challenge_method'), 'S256')
  const before = village.clock.now()
  const fresh = await finish(await begin('ada', true))
  assert.ok(fresh.outcome === 'signed_in')
  assert.ok(fresh.session.authenticatedAt! >= before, 'whole seconds of the provider do not make it older')
  for (const ago of [120, 36_000]) {
    await provider.knows({ ada }, { ada: { ago } })
    assert.deepEqual(await finish(await begin('ada', true)), { outcome: 'not_fresh', next: '/auth/account' })
  }
  await provider.knows({ ada })
  const slow = await begin('ada', true)
  village.clock.advance(6 * minute)
  const late = await finish(slow)
  assert.ok(late.outcome === 'signed_in', 'who takes their time has signed in since they were asked to')
  assert.equal(ageOf(late.session, village), 6)
})

onStores(
  'a provider that is unreachable, or does not take the secret, is told in the log without it',
  async (village, t) => {
    const own = await RunningProvider.start(t)
    const { provider, begin, finish, openId, browser, lines } = await start(village, true, own)
    const other = wayIn(village, { ...provider.settings, clientSecret: 'not the secret' }, true)
    assert.deepEqual(await other.arrive('ada'), { outcome: 'failed', next: '/auth/account' })
    const url = await begin('ada')
    await provider.kill()
    assert.deepEqual(await finish(url), { outcome: 'unreachable', next: '/auth/account' })
    const fresh = wayIn(village, provider.settings)
    const begun = await fresh.openId.begin({ browser, next: '/', redirectUri }, visit)
    assert.deepEqual(begun, { outcome: 'unreachable' })
    assert.equal(openId.providerName, new URL(provider.settings.issuer).host)
    const text = [...lines, ...other.lines, ...fresh.lines].join('')
    assert.equal(text.match(/sign-in at the OpenID provider failed/g)!.length, 3)
    assert.ok(!text.includes(provider.settings.clientSecret) && !text.includes('not the secret'))
  },
)

onStores(
  'claims of the userinfo response count, and the secret is posted where the provider wants that',
  async (village, t) => {
    const provider = await RunningProvider.start(t, {
      method: 'client_secret_post',
      conformIdTokenClaims: true,
    })
    await provider.knows({ ada })
    const { arrive } = wayIn(village, provider.settings, true)
    assert.equal((await arrive('ada')).outcome, 'signed_in')
  },
)

onStores(
  'userinfo is asked where the ID token does not say whether the address is verified',
  async village => {
    const { provider, arrive } = await start(village, true)
    await provider.knows({ ada }, { ada: { claims: { email: 'Ada@Example.com', email_verified: null } } })
    const done = await arrive('ada')
    assert.ok(done.outcome === 'signed_in', JSON.stringify(done))
    assert.equal(isEmailVerified(done.user), true)
  },
)

const tenants = ['2d1f1d4e-3c5a-4b8e-9f60-0a1b2c3d4e5f', '6b2f3a1c-0d4e-4f5a-8b7c-9d0e1f2a3b4c'] as const
const entra = 'https://login.microsoftonline.com'

/** Has the provider appear as Entra ID does to those whom `claims` are of, at the address of all tenants. */
async function startEntra(
  village: Village,
  isOpen: boolean,
  admitted: readonly string[] | null = [tenants[0]],
) {
  const { issuer, ...client } = shared.settings
  const disguised = async (url: string | URL | Request, init?: RequestInit) => {
    const target = String(url)
    if (!target.endsWith('/.well-known/openid-configuration'))
      return fetch(target.replace(entra, issuer), init)
    const response = await fetch(`${issuer}/.well-known/openid-configuration`, init)
    const { authorization_response_iss_parameter_supported: _, ...metadata } = JSON.parse(
      (await response.text()).replaceAll(issuer, entra),
    )
    return Response.json({ ...metadata, issuer: `${entra}/{tenantid}/v2.0` })
  }
  const settings = { ...client, issuer: `${entra}/organizations/v2.0`, tenants: admitted }
  const way = wayIn(village, settings, isOpen, disguised as typeof fetch)
  const knows = (claims: Readonly<Record<string, unknown>>) =>
    shared.knows({ ada }, { ada: { claims: { email_verified: null, ...ofTenant(tenants[0]), ...claims } } })
  const arrive = async (session: string | null = null, invitation: string | null = null) => {
    const begun = await way.openId.begin(
      { browser: way.browser, next: '/auth/account', redirectUri, loginHint: 'ada', invitation },
      visit,
    )
    assert.ok(begun.outcome === 'sent', JSON.stringify([begun, way.lines]))
    const url = await walk(begun.url.replace(entra, issuer))
    url.searchParams.delete('iss')
    return way.finish(url, session)
  }
  await knows({})
  return { ...way, knows, arrive }
}

function ofTenant(tid: string, oid = '11111111-2222-4333-8444-555555555555') {
  return { iss: `${entra}/${tid}/v2.0`, tid, oid, email: ada.email }
}

onStores('at Entra ID, people are known by tenant and object, and prove no address', async village => {
  const { arrive, knows } = await startEntra(village, true, tenants)
  const first = await arrive()
  assert.ok(first.outcome === 'signed_in', JSON.stringify(first))
  const { tid, oid, iss } = ofTenant(tenants[0])
  assert.deepEqual(first.user.identity, { issuer: iss, subject: `${tid}/${oid}` })
  assert.deepEqual([first.user.email, first.user.emailVerifiedAt], ['ada@example.com', null])
  await knows({ sub: 'ada', email: 'renamed@example.com', email_verified: true })
  const renamed = await arrive()
  assert.ok(renamed.outcome === 'signed_in')
  assert.deepEqual([renamed.user.id, renamed.user.emailVerifiedAt], [first.user.id, null])
  for (const other of [ofTenant(tenants[1]), ofTenant(tenants[0], '99999999-2222-4333-8444-555555555555')]) {
    await knows({ ...other, email_verified: true })
    assert.partialDeepStrictEqual(await arrive(), { outcome: 'refused', reason: 'no_link' })
  }
  await knows({ ...ofTenant(tenants[1]), email: null, preferred_username: 'Kay@Example.com' })
  const named = await arrive()
  assert.ok(named.outcome === 'signed_in')
  assert.deepEqual([named.user.email, named.user.emailVerifiedAt], ['kay@example.com', null])
})

onStores('people of other tenants may not come', async village => {
  const refused = { outcome: 'refused', reason: 'other_tenant' }
  const { arrive, knows } = await startEntra(village, true)
  await knows(ofTenant(tenants[1]))
  assert.partialDeepStrictEqual(await arrive(), refused)
  for (const part of [{ tid: null }, { oid: null }, { tid: tenants[1] }]) {
    await knows(part)
    assert.notEqual((await arrive()).outcome, 'signed_in', JSON.stringify(part))
  }
  const unlisted = await startEntra(village, true, null)
  assert.partialDeepStrictEqual(await unlisted.arrive(), refused)
  const listed = wayIn(village, { ...shared.settings, tenants: [tenants[0]] }, true)
  for (const claims of [{}, { tid: tenants[0], oid: 'one of an issuer that is none of its tenants' }]) {
    await shared.knows({ ada }, { ada: { claims } })
    assert.partialDeepStrictEqual(await listed.arrive('ada'), refused)
  }
  assert.equal((await village.store.users.list(everybody, { offset: 0, limit: 10 })).total, 0)
})

onStores('who has no verified address comes in by the link of an invitation, once', async village => {
  const { arrive, knows } = await startEntra(village, false)
  const refused = { outcome: 'refused', reason: 'no_link' }
  assert.partialDeepStrictEqual(await arrive(), refused)
  const account = await village.found()
  const invited = await village.settle({ email: 'ada@work.example', password: null })
  const member = await village.join(invited, account, { status: 'pending' })
  const { value } = await reissueInvitation(village.store, member, village.clock.now())
  assert.partialDeepStrictEqual(await arrive(null, newValue().value), refused)
  const done = await arrive(null, value)
  assert.ok(done.outcome === 'signed_in', JSON.stringify(done))
  assert.deepEqual(
    [done.user.id, done.user.email, done.user.emailVerifiedAt],
    [invited.id, invited.email, null],
  )
  await knows(ofTenant(tenants[0], '99999999-2222-4333-8444-555555555555'))
  assert.partialDeepStrictEqual(
    await arrive(null, value),
    refused,
    'the link has brought somebody in already',
  )
  const joined = await new Invitations(village.parts).acceptAs(done.user, value, visit)
  assert.equal(joined.outcome, 'accepted')
})

onStores('who is signed in is taken for the person at Entra ID if the addresses agree', async village => {
  const { arrive, knows } = await startEntra(village, false)
  const { user, session, account } = await settleWithAll(village)
  await knows({ email: 'another@example.com' })
  assert.partialDeepStrictEqual(await arrive(session), { outcome: 'refused', reason: 'no_link' })
  await knows({})
  assert.partialDeepStrictEqual(await arrive(), { outcome: 'refused', reason: 'no_link' })
  const done = await arrive(session)
  assert.ok(done.outcome === 'signed_in', JSON.stringify(done))
  assert.deepEqual([done.user.id, done.user.password], [user.id, user.password])
  assert.equal(done.user.emailVerifiedAt, null)
  assert.deepEqual(await village.told(account), [[user.id, 'update', 'user', user.id, ['identity']]])
})

onStores('an address goes to the provider a hundred times in ten minutes at most', async village => {
  const { openId, browser } = await start(village)
  const begin = () => openId.begin({ browser, next: '/', redirectUri }, visit)
  const all = await Promise.all(Array.from({ length: 105 }, begin))
  assert.equal(all.filter(({ outcome }) => outcome === 'sent').length, 100)
  const later = await begin()
  assert.ok(later.outcome === 'throttled' && later.retryAfter > 500)
  assert.equal(
    (await openId.begin({ browser, next: '/', redirectUri }, { address: '192.0.2.8' })).outcome,
    'sent',
  )
})
