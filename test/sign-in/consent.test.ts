import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consentPath, leadingOn, paths } from '../../src/pages/parts/paths.ts'
import type { Interactions } from '../../src/sign-in/consent.ts'
import { oauthScopes } from '../../src/permissions/scopes.ts'
import { clientWith, verificationWith } from '../oauth/clients/client-with.ts'
import { Site } from './site.ts'

type ConsentStep = Awaited<ReturnType<Interactions['load']>>
type Decision = Parameters<Interactions['finish']>[2]

/** An authorization server that asks one thing, and notes what is decided. */
class Asked implements Interactions {
  step: ConsentStep
  readonly decided: Decision[] = []
  finished: Awaited<ReturnType<Interactions['finish']>> = { kind: 'resume', location: '/oauth2/auth/abc' }

  constructor(step: ConsentStep) {
    this.step = step
  }

  async clientOf() {
    return client
  }

  async load(): Promise<ConsentStep> {
    return this.step
  }

  async finish(_: string, __: unknown, decision: Decision) {
    this.decided.push(decision)
    return this.finished
  }
}

const client = clientWith({ name: 'Tea <Ledger>', visibility: 'public' })
const person = { user: '0'.repeat(32), email: 'ada@example.com' }
const path = consentPath('abc')
const consent = {
  kind: 'consent',
  client,
  person,
  redirectUri: 'https://app.example/cb',
  accounts: [
    { id: 'a'.repeat(32), name: 'Example Ltd' },
    { id: 'b'.repeat(32), name: 'Sandbox' },
  ],
  scopes: oauthScopes.slice(0, 5).map((scope, i) => ({ ...scope, isOptional: i >= 3 })),
  apis: ['management', 'ai'],
  resources: [],
  remembered: null,
} as const satisfies ConsentStep

async function arrive(t: Parameters<typeof Site.open>[0], step: ConsentStep) {
  const interactions = new Asked(step)
  const site = await Site.open(t, { interactions })
  const visitor = await site.signedIn(await site.settle())
  return { interactions, site, visitor }
}

test('a consent passes on the account and the optional scopes that stayed ticked', async t => {
  const { interactions, visitor } = await arrive(t, consent)
  const page = await visitor.get(path)
  assert.match(
    page.text,
    /Tea <Ledger> asks to act for you .*Not verified.*app\.example.*Example Ltd.*Sandbox/,
  )
  const [, , , kept] = consent.scopes
  const sent = await page.submit(path, {
    decision: 'allow',
    account: 'b'.repeat(32),
    [`optional.${kept!.id}`]: 'yes',
  })
  assert.deepEqual(interactions.decided, [{ kind: 'allow', account: 'b'.repeat(32), optional: [kept!.id] }])
  assert.equal(sent.headers.get('refresh'), '0;url=/oauth2/auth/abc')
  assert.match(sent.body, /<a class="button plain" href="\/oauth2\/auth\/abc">Continue<\/a>/)
})

test('scopes of OpenID Connect are sentences for people, and open no API', async t => {
  const ids = ['openid', 'email', 'profile', 'offline_access']
  const scopes = oauthScopes.filter(({ id }) => ids.includes(id)).map(one => ({ ...one, isOptional: false }))
  const { visitor } = await arrive(t, { ...consent, accounts: [], scopes })
  const { text } = await visitor.get(path)
  assert.match(
    text,
    /Recognize you .*Your email address See your email address, once it is verified\..*Your name See your name\..*Stay connected /,
  )
  assert.doesNotMatch(text, /Gets access to|openid|offline_access/)
})

test('accounts with the same name are told apart', async t => {
  const twins = consent.accounts.map(one => ({ ...one, name: 'Shop' }))
  const { interactions, visitor } = await arrive(t, { ...consent, accounts: twins })
  assert.match((await visitor.get(path)).text, /Shop aaaaaaaa….*Shop bbbbbbbb…/)
  interactions.step = consent
  assert.doesNotMatch((await visitor.get(path)).text, /aaaaaaaa…/)
})

test('a publisher is verified once their domain is, and not before', async t => {
  const { interactions, visitor } = await arrive(t, consent)
  const shown = async (status: 'in_progress' | 'verified') => {
    const verification = verificationWith({ host: 'tea.example', status })
    interactions.step = { ...consent, client: { ...client, clientUri, verification } }
    return (await visitor.get(path)).text
  }
  let clientUri: string | null = 'https://tea.example/'
  assert.match(await shown('in_progress'), /Not verified \(says it is tea\.example\)/)
  assert.match(await shown('verified'), /Verified: tea\.example/)
  clientUri = null
  assert.match(await shown('verified'), /Published by Not verified You/)
})

test('beside what is verified stands where it leads elsewhere, and what its name may imitate', async t => {
  const { interactions, visitor } = await arrive(t, consent)
  const verification = verificationWith({ host: 'tea.example.com', status: 'verified' })
  const shown = async (name: string, redirectUri: string, isVerified = true) => {
    const clientUri = 'https://tea.example.com/'
    const proof = { ...verification, ...(!isVerified && ({ status: 'failed' } as const)) }
    const named = { ...client, name, clientUri, verification: proof }
    interactions.step = { ...consent, client: named, redirectUri }
    const { text } = await visitor.get(path)
    return /Published by (.*?) Gets access to /.exec(text)?.[1]
  }
  const you = `You ${person.email} Not you\\? Sends you to`
  const verified = 'Verified: tea\\.example\\.com'
  const home = 'https://cb.tea.example.com/cb'
  const elsewhere = 'Not tea\\.example\\.com, the verified domain'
  const rows: readonly [name: string, uri: string, expected: string][] = [
    ['Tea', home, `^${verified} ${you} cb\\.tea\\.example\\.com$`],
    ['Tea', 'https://evil.example/', `^${verified} ${you} evil\\.example ${elsewhere}$`],
    ['Tea', 'http://127.0.0.1:1/', `A program on this device, 127\\.0\\.0\\.1:1 ${elsewhere}$`],
    ['Tea', 'com.example.tea:/cb', `links ${elsewhere}$`],
    [
      'Tea by paypal.com',
      home,
      `^${verified} Its name names paypal\\.com, which is not the verified domain ${you}`,
    ],
    ['Tea of example.com', home, `^${verified} ${you}`],
    [
      'Pаypal',
      home,
      `^${verified} Its name has letters of several scripts, Latin and Cyrillic \\(а\\), and may imitate another name ${you}`,
    ],
    [
      'Сорос',
      home,
      `^${verified} Its name is all in Cyrillic letters, which can look like Latin ones ${you}`,
    ],
  ]
  for (const [name, uri, expected] of rows)
    assert.match((await shown(name, uri)) ?? '', new RegExp(expected), `${name} ${uri}`)
  const unverified = (await shown('Pаypal by paypal.com', 'https://evil.example/', false)) ?? ''
  assert.match(unverified, /^Not verified .* Its name has letters of several scripts/)
  assert.doesNotMatch(unverified, /the verified domain/)
  interactions.step = {
    ...consent,
    kind: 'refused',
    reason: 'no account',
    client: { ...client, name: 'Pаypal' },
  }
  assert.match((await visitor.get(path)).text, /Its name has letters of several scripts/)
})

test('to deny is handed on as well', async t => {
  const { interactions, visitor } = await arrive(t, consent)
  await (await visitor.get(path)).submit(path, { decision: 'deny' })
  assert.deepEqual(interactions.decided, [{ kind: 'deny' }])
})

test('nothing is decided without a decision, or by a form of another consent', async t => {
  const { interactions, visitor } = await arrive(t, consent)
  const page = await visitor.get(path)
  assert.equal((await page.submit(path, {})).status, 200)
  const other = consentPath('other')
  assert.equal((await visitor.post(other, { ...page.hidden(path), decision: 'allow' })).status, 403)
  assert.deepEqual(interactions.decided, [])
})

test('an account that cannot be chosen is said to be so', async t => {
  const { interactions, visitor } = await arrive(t, consent)
  interactions.finished = { kind: 'invalid' }
  const page = await (await visitor.get(path)).submit(path, { decision: 'allow' })
  assert.deepEqual([page.status, /Choose one of your accounts\./.test(page.text)], [422, true])
})

test('an app of the device is opened by the redirect after the form, which the policy names', async t => {
  const { visitor } = await arrive(t, { ...consent, redirectUri: 'com.example.app:/cb' })
  const page = await visitor.get(path)
  assert.match(page.headers.get('content-security-policy')!, /form-action 'self' com\.example\.app:;/)
  const sent = await page.submit(path, { decision: 'allow' })
  assert.deepEqual([sent.status, sent.location], [303, '/oauth2/auth/abc'])
})

test('a page that asks once more shows what was decided before, and on the device why it asks', async t => {
  const [, , , first, second] = consent.scopes
  const remembered = { account: consent.accounts[1].id, declined: [second!.id], isHostSeen: true }
  const { interactions, visitor } = await arrive(t, { ...consent, remembered })
  const page = await visitor.get(path)
  assert.match(page.text, /You have allowed this before\. Published by/)
  assert.match(page.body, new RegExp(`value="${remembered.account}" required checked>`))
  assert.match(page.body, new RegExp(`name="optional.${first!.id}" [^>]* checked`))
  assert.doesNotMatch(page.body, new RegExp(`name="optional.${second!.id}" [^>]* checked`))
  interactions.step = { ...consent, remembered, redirectUri: 'com.example.app:/cb' }
  assert.match((await visitor.get(path)).text, /before\. Allow it again only if you have just started this/)
})

test('a page that asks for a host that was not seen before says so', async t => {
  const remembered = { account: consent.accounts[1].id, declined: [], isHostSeen: false }
  const { interactions, visitor } = await arrive(t, { ...consent, remembered })
  assert.match(
    (await visitor.get(path)).text,
    /allowed this before, but then the app sent you to another place\./,
  )
  interactions.step = { ...consent, remembered, redirectUri: 'http://127.0.0.1:9/cb' }
  assert.match((await visitor.get(path)).text, /before\. Allow it again only if you have just started this/)
})

test('the page names what the app gets access to, unless it only learns who signs in', async t => {
  const { interactions, visitor } = await arrive(t, consent)
  const access = async () =>
    /Gets access to (.*?) (?:More|In which)/.exec((await visitor.get(path)).text)?.[1]
  assert.equal(await access(), 'The management API and AI gateways')
  interactions.step = { ...consent, apis: ['ai'] }
  assert.equal(await access(), 'AI gateways')
  interactions.step = { ...consent, apis: ['management'] }
  assert.equal(await access(), 'The management API')
  interactions.step = { ...consent, apis: [], resources: ['https://api.example.com/orders'] }
  assert.equal(await access(), 'https://api.example.com/orders')
  const scopes = consent.scopes.filter(({ id }) => id === 'openid' || id === 'offline_access')
  interactions.step = { ...consent, scopes }
  assert.equal(await access(), undefined)
  interactions.step = { ...consent, scopes, apis: ['ai'] }
  assert.equal(await access(), 'AI gateways')
})

test('a redirect to an app of the device names its scheme, whatever host stands behind it', async t => {
  const { visitor } = await arrive(t, { ...consent, redirectUri: 'com.example.app://bank.example/cb' })
  const { text } = await visitor.get(path)
  assert.match(text, /Sends you to An app on this device that opens com\.example\.app: links/)
  assert.doesNotMatch(text, /bank\.example/)
})

test('choices stay selected if the consent cannot be accepted yet', async t => {
  const { interactions, visitor } = await arrive(t, consent)
  const [, , , kept, left] = consent.scopes
  const fields = { account: consent.accounts[1].id, [`optional.${kept!.id}`]: 'yes', decision: 'allow' }
  const shown = [await visitor.post(path, { ...fields, form_token: 'x' })]
  assert.deepEqual([shown[0]!.status, interactions.decided.length], [403, 0])
  interactions.finished = { kind: 'invalid' }
  shown.push(await (await visitor.get(path)).submit(path, fields))
  for (const { body } of shown) {
    assert.match(body, new RegExp(`value="${fields.account}" required checked>`))
    assert.match(body, new RegExp(`name="optional.${kept!.id}" [^>]* checked`))
    assert.doesNotMatch(body, new RegExp(`name="optional.${left!.id}" [^>]* checked`))
  }
})

test('a visitor without a recent sign-in is sent to sign in, and returns', async t => {
  const step = { kind: 'sign_in', client, loginHint: 'ada@example.com', isFresh: true } as const
  const { visitor, site } = await arrive(t, step)
  const sent = await visitor.get(path)
  assert.equal(sent.location, leadingOn(paths.signIn, path, { fresh: '1', login_hint: 'ada@example.com' }))
  const page = await sent.follow()
  assert.match(page.text, /to continue to Tea <Ledger> Sign in again/)
  assert.match((await site.visitor().get(sent.location!)).body, /value="ada@example\.com"/)
})

test('a user who may not allow the app is told why, and can return to it', async t => {
  const refused = { kind: 'refused', client, person, redirectUri: 'https://app.example/cb' } as const
  const { interactions, visitor } = await arrive(t, { ...refused, reason: 'not a member' })
  const page = await visitor.get(path)
  assert.equal(page.status, 403)
  assert.match(page.text, /only for members of the account that registered it/)
  await page.submit(path, { decision: 'deny' })
  assert.deepEqual(interactions.decided, [{ kind: 'deny' }])
  interactions.step = { ...refused, reason: 'no account' }
  assert.match((await visitor.get(path)).text, /more than your roles reach/)
})

test('what is over is said to be over, and what needs nothing goes on', async t => {
  const { interactions, visitor } = await arrive(t, { kind: 'gone' })
  assert.deepEqual((await visitor.get(path)).status, 404)
  interactions.step = { kind: 'resume', location: '/oauth2/auth/abc' }
  assert.equal((await visitor.get(path)).headers.get('refresh'), '0;url=/oauth2/auth/abc')
})
