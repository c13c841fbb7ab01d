// Every page of ours, made of these words: plain ones to look at, hostile ones to try what gets through.

import type { Page } from '../../../src/pages/parts/layout.ts'
import {
  accountPage,
  addPasskeyPage,
  enrolPage,
  recoveryCodesPage,
} from '../../../src/pages/views/account.ts'
import {
  type ConsentView,
  consentPage,
  leavePage,
  refusedPage,
  type ShownApp,
} from '../../../src/pages/views/consent.ts'
import { invitationPage, setUpPage, signUpPage } from '../../../src/pages/views/join.ts'
import { messagePage, oauthErrorPage } from '../../../src/pages/views/message.ts'
import {
  codePage,
  confirmPage,
  signedOutPage,
  signInPage,
  signOutPage,
} from '../../../src/pages/views/sign-in.ts'

/** What people and apps decide. */
export interface Words {
  readonly email: string
  readonly name: string
  readonly app: string
  readonly account: string
  readonly otherAccount: string
  readonly provider: string
  readonly host: string
  readonly logo: string
  readonly uri: string
  readonly redirect: string
  readonly userAgent: string
  readonly address: string
  readonly next: string
  readonly text: string
}

export const plainWords: Words = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  app: 'Tea Ledger',
  account: 'Example Ltd',
  otherAccount: 'Ada’s sandbox',
  provider: 'Example SSO',
  host: 'tea.example',
  logo: 'https://tea.example/logo.svg',
  uri: 'https://tea.example/policy',
  redirect: 'https://app.tea.example/callback',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  address: '203.0.113.7',
  next: '/oauth2/consent/abc?x=1',
  text: 'redirect_uri is not registered for this client',
}

/** Makes each page, by a name for it. */
export function allPages(words: Words): Readonly<Record<string, Page>> {
  const { email, account, next, provider } = words
  const token = 'a'.repeat(43)
  const retry = {
    input: { email, first_name: words.name, last_name: words.name },
    faults: { password: 'This password is on lists of common passwords.' },
  }
  const invitation = {
    token,
    link: token,
    account,
    email,
    roles: ['Administrator', 'AI Gateway Admin'],
    provider,
    isKnown: false,
    signedInAs: null,
    signOutToken: token,
  }
  const app: ShownApp = {
    name: words.app,
    logo: words.logo,
    publisher: { host: words.host, isVerified: true },
    isPrivate: false,
    document: null,
    policyUri: words.uri,
    termsUri: words.uri,
  }
  const known: ShownApp = { ...app, document: 'https://app.example/client.json', logo: null }
  const consent: ConsentView = {
    token,
    action: '/oauth2/consent/abc',
    app,
    redirectUri: words.redirect,
    email,
    accounts: [
      { id: 'a'.repeat(32), name: account },
      { id: 'b'.repeat(32), name: words.otherAccount },
    ],
    scopes: [
      scope('openid', 'OpenID', 'Tell who the user is by an id token.', 'identity'),
      scope('offline_access', 'Offline Access', 'Stay authorized while the user is away.', 'identity'),
      scope(
        'ai_gateway.run',
        'AI Gateway Run',
        'Call models through AI gateways.',
        'ai_and_machine_learning',
      ),
      {
        ...scope(
          'ai_gateway.read',
          'AI Gateway Read',
          'See AI gateways and the logs of their calls, bodies included.',
          'ai_and_machine_learning',
        ),
        isOptional: true,
      },
    ],
    apis: ['management', 'ai'],
    resources: [],
    remembered: null,
    chosen: null,
    self: next,
  }
  const person = {
    tokenFor: () => token,
    email,
    name: words.name,
    hasPassword: true,
    hasApp: false,
    passkeys: [],
    noPasskeys: null,
    recoveryCodes: 0,
    isMember: true,
    running: [{ id: 'd'.repeat(32), name: account }],
    hasDashboard: true,
    invitations: [{ id: 'c'.repeat(32), account, roles: ['Administrator', 'AI Gateway Admin'] }],
    sessions: [
      session('1', words.userAgent, words.address, true),
      session('2', words.userAgent, words.address, false),
    ],
    grants: [
      {
        id: '1',
        app: words.app,
        account,
        scopes: ['AI Gateway Run', 'AI Gateway Read'],
        apis: ['management', 'ai'] as const,
        resources: [],
        createdAt: time,
      },
    ],
  }
  const options = { challenge: 'AAAA', rpId: 'site.test', userVerification: 'required' }
  const passkey = { token, options }
  const refused = {
    app,
    email,
    token,
    action: '/oauth2/consent/abc',
    redirectUri: words.redirect,
    self: next,
  }
  return {
    'sign in': signInPage({ token, next, app: words.app, provider }),
    'sign in, with passkeys': signInPage({ token, next, provider, passkey }),
    'sign in, faulty': signInPage({
      token,
      next,
      canSignUp: true,
      input: { email },
      trouble: 'Email or password is wrong.',
    }),
    code: codePage({ token, ticket: token, next, hasApp: true }),
    'code or passkey': codePage({ token, ticket: token, next, hasApp: true, passkey }),
    'passkey as second step': codePage({ token, ticket: token, next, hasApp: false, passkey }),
    'passkeys of another host': codePage({ token, ticket: token, next, hasApp: false }),
    'code, faulty': codePage({
      token,
      ticket: token,
      next,
      hasApp: true,
      faults: { recovery_code: 'This code is wrong, or was used.' },
    }),
    confirm: confirmPage({ token, next, email, hasPassword: true, provider }),
    'confirm, with a passkey': confirmPage({ token, next, email, hasPassword: true, passkey }),
    'sign out': signOutPage({ token, email, next }),
    'signed out': signedOutPage(next),
    'set-up': setUpPage({ token, link: token, email: null }),
    'sign up': signUpPage({ token, next, ...retry }),
    invitation: invitationPage(invitation),
    'invitation, faulty': invitationPage({ ...invitation, ...retry }),
    'invitation of a known person': invitationPage({ ...invitation, isKnown: true }),
    'invitation, signed in': invitationPage({ ...invitation, signedInAs: email }),
    'invitation of another': invitationPage({ ...invitation, signedInAs: `x${email}` }),
    account: accountPage(person),
    'account with two steps': accountPage({
      ...person,
      hasApp: true,
      recoveryCodes: 9,
      done: 'password',
      grants: [],
    }),
    'account of nobody’s member': accountPage({
      ...person,
      isMember: false,
      invitations: [],
    }),
    'account with passkeys': accountPage({
      ...person,
      recoveryCodes: 1,
      passkeys: [
        { id: '1', name: words.name, otherHost: null, createdAt: time, usedAt: time },
        { id: '2', name: words.name, otherHost: 'id.example', createdAt: time, usedAt: null },
      ],
      noPasskeys: 'address',
      done: 'passkey_removed',
      grants: [],
    }),
    'add a passkey': addPasskeyPage({ ...passkey, name: words.name, trouble: 'That took too long.' }),
    enrol: enrolPage({
      token,
      uri: `otpauth://totp/Gatehouse:${encodeURIComponent(email)}?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Gatehouse`,
      secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      faults: { code: 'This code is wrong. Codes change every 30 seconds.' },
    }),
    'recovery codes': recoveryCodesPage(Array.from({ length: 10 }, (_, i) => `k7d2-9xq4-${1000 + i}`)),
    consent: consentPage(consent),
    'consent, to an app that is not registered': consentPage({ ...consent, app: known }),
    'consent, not verified': consentPage({
      ...consent,
      app: { ...app, logo: null, publisher: { host: words.host, isVerified: false } },
      redirectUri: 'http://127.0.0.1:49152/callback',
      accounts: consent.accounts.slice(0, 1),
    }),
    'consent, private': consentPage({
      ...consent,
      app: { ...app, publisher: null, isPrivate: true, policyUri: null, termsUri: null },
      redirectUri: 'com.example.app:/callback',
      accounts: [],
      trouble: 'Choose an account.',
    }),
    'consent, to be confirmed': consentPage({
      ...consent,
      redirectUri: 'com.example.app:/callback',
      remembered: { isHostSeen: true },
      chosen: { account: 'b'.repeat(32), declined: ['ai_gateway.read'] },
    }),
    'refused to a stranger': refusedPage({ ...refused, reason: 'not a member' }),
    leaving: { ...leavePage('/oauth2/auth/abc'), leadsTo: '#' },
    'refused for roles': refusedPage({ ...refused, reason: 'no account' }),
    'refused for two steps': refusedPage({ ...refused, reason: 'no second factor' }),
    message: messagePage({
      status: 404,
      title: 'Page not found',
      text: words.text,
      link: { href: '/account', text: 'Your profile' },
    }),
    'OAuth error': oauthErrorPage({
      status: 400,
      error: 'invalid_request',
      description: words.text,
      app: words.app,
      ray: '8f3c1e0a9b7d2c46',
    }),
  }
}

const time = Date.UTC(2026, 4, 6, 7, 8, 9)

function scope(id: string, name: string, description: string, category: string) {
  return { id, name, description, category, isOptional: false }
}

function session(id: string, userAgent: string, address: string, isThis: boolean) {
  return { id, userAgent, address, createdAt: time, usedAt: time + 3_600_000, isThis }
}
