// The page where a person allows an app to act for them, or refuses.

import { type Html, type HtmlValue, html } from '../../base/text/html.ts'
import { leadsToProven, otherHostIn } from '../../oauth/clients/proven-host.ts'
import { scriptDoubts } from '../../oauth/clients/name-scripts.ts'
import { isOfDevice } from '../../oauth/clients/uri-rules.ts'
import { wordsOf } from '../../oauth/grants/resource-indicator.ts'
import { categoryTitle } from '../../permissions/categories.ts'
import type { Api } from '../../store/records/records.ts'
import { appMark } from '../parts/app-mark.ts'
import { accountName, facts, form, sign, isolated } from '../parts/components.ts'
import { appSchemeOf, type Page } from '../parts/layout.ts'
import { leadingOn, paths } from '../parts/paths.ts'
import { page, type Retry, trouble } from './sign-in.ts'

export interface ShownScope {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly category: string
  readonly isOptional: boolean
}

export interface ShownApp {
  /** For an app that is known by its document, nothing but a claim. */
  readonly name: string
  /** The URL of its document; null for an app that was registered. */
  readonly document: string | null
  /** Loaded by the browser, never by us. */
  readonly logo: string | null
  /** The host of the publisher and whether it was verified; null if none is named. */
  readonly publisher: { readonly host: string; readonly isVerified: boolean } | null
  readonly isPrivate: boolean
  readonly policyUri: string | null
  readonly termsUri: string | null
}

export interface Chosen {
  readonly account: string
  readonly declined: readonly string[]
}

export interface ConsentView extends Retry {
  readonly token: string
  readonly action: string
  readonly app: ShownApp
  readonly redirectUri: string
  readonly email: string
  /** The accounts to choose from; empty if the request concerns no account. */
  readonly accounts: readonly { readonly id: string; readonly name: string }[]
  readonly scopes: readonly ShownScope[]
  readonly apis: readonly Api[]
  /** The routes that it is for besides, by their URLs. */
  readonly resources: readonly string[]
  /** Whether they allowed the same before, and whether that was for the same host; null if they did not. */
  readonly remembered: { readonly isHostSeen: boolean } | null
  readonly chosen: Chosen | null
  readonly self: string
}

export function consentPage(view: ConsentView): Page {
  const { app, token, action, scopes } = view
  const grouped = Map.groupBy(scopes, scope => scope.category)
  return {
    ...page(
      view,
      `Allow ${callNameOf(app)}?`,
      html`${heading(app, html`<b>${isolated(callNameOf(app))}</b> asks to act for you`)}
${rememberedNote(view)}${trouble(view)}<div class="card">
${facts([
  ['Calls itself', claimedName(app)],
  [
    app.document === null ? 'Published by' : 'Known by',
    app.document === null ? publisher(app) : known(app.document),
  ],
  ['Its name', nameDoubt(app)],
  [
    'You',
    html`${isolated(view.email)} <a class="whole" href="${leadingOn(paths.signOut, view.self)}">Not you?</a>`,
  ],
  ['Sends you to', destination(view.redirectUri, app)],
  ['Gets access to', access(view)],
  ['More', links(app)],
])}
</div>
${form(
  { action, token },
  html`${accountChoice(view)}
<div class="card">
<h2>It will be able to</h2>
${[...grouped].map(
  ([category, members]) => html`<div class="group"><h3>${categoryTitle(category)}</h3>
<ul class="options">
${members.map((scope, at) => scopeRow(scope, at, view.chosen))}</ul></div>
`,
)}</div>
<div class="choice"><button class="plain" name="decision" value="deny">Deny</button><button class="plain" name="decision" value="allow">Allow</button></div>`,
  'consent',
)}
<p class="aside">You can end this at any time in <a href="${paths.account}">your profile</a>.</p>`,
    ),
    formScheme: appSchemeOf(view.redirectUri),
    hasPictures: app.logo !== null,
  }
}

function rememberedNote({ remembered, redirectUri }: ConsentView): HtmlValue {
  if (remembered === null) return null
  const isOfWeb = redirectUri.startsWith('https:')
  const warning =
    ' Allow it again only if you have just started this in the app itself: another program on your device could ask in its name.'
  if (isOfWeb && !remembered.isHostSeen)
    return html`<p class="lead">You have allowed this before, but then the app sent you to another place. Allow it again only if you trust the one below.</p>
`
  return html`<p class="lead">You have allowed this before.${!isOfWeb && warning}</p>
`
}

function access({ apis, resources, scopes }: ConsentView): HtmlValue {
  if (scopes.every(({ id }) => ofSignIn.has(id)) && apis.length > 1) return null
  const words = wordsOf(apis, resources)
  return apis.length === 0 && resources.length > 0 ? words : capitalized(words)
}

const ofSignIn: ReadonlySet<string> = new Set(['openid', 'email', 'profile', 'offline_access'])

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function heading(app: ShownApp, words: Html): Html {
  return html`<div class="app">${appMark(callNameOf(app), app.logo)}<h1>${words}</h1></div>`
}

/** Returns what the app is called by: anybody can claim a name, but the host is where its document is. */
function callNameOf({ name, document }: ShownApp): string {
  return document === null ? name : new URL(document).host
}

function claimedName({ name, document }: ShownApp): HtmlValue {
  return document === null
    ? null
    : html`${isolated(name)}<br><span class="proof no">${sign('warning')}<span>Anybody can choose this name</span></span>`
}

function known(document: string): Html {
  return html`<code>${document}</code><br>Nobody here has registered it`
}

function publisher({ publisher, isPrivate }: ShownApp): HtmlValue {
  const within = 'An account of yours, for its members only'
  if (publisher === null && isPrivate) return within
  const proof =
    publisher?.isVerified === true
      ? html`<span class="proof yes">${sign('shield')}Verified: ${publisher.host}</span>`
      : html`<span class="proof no">${sign('warning')}Not verified</span>${publisher !== null && html` (says it is ${publisher.host})`}`
  return isPrivate ? html`${proof}<br>${within}` : proof
}

/** Explains why a name may be misleading, since anybody can choose it: only a host is verified. */
function nameDoubt({ name, publisher }: ShownApp): HtmlValue {
  const other = publisher?.isVerified === true ? otherHostIn(name, publisher.host) : null
  const doubts = [
    ...(other === null ? [] : [`names ${other}, which is not the verified domain`]),
    ...scriptDoubts(name),
  ]
  if (doubts.length === 0) return null
  return doubts.map(
    (doubt, i) =>
      html`${i > 0 && html`<br>`}<span class="proof no">${sign('warning')}<span>${isolated(doubt)}</span></span>`,
  )
}

function links({ policyUri, termsUri }: ShownApp): HtmlValue {
  const all = [
    ['Privacy policy', policyUri],
    ['Terms', termsUri],
  ] as const
  const named = all.filter(([, uri]) => uri !== null)
  if (named.length === 0) return null
  return named.map(
    ([text, uri], i) =>
      html`${i > 0 && ', '}<a href="${uri}" target="_blank" rel="noopener noreferrer">${text}</a>`,
  )
}

/** Verification of an app says nothing about any other host, nor about a program on this device. */
function destination(uri: string, { publisher }: ShownApp): Html {
  if (publisher?.isVerified !== true || leadsToProven(uri, publisher.host)) return place(uri)
  return html`${place(uri)}<br><span class="proof no">${sign('warning')}<span>Not ${publisher.host}, the verified domain</span></span>`
}

/** Only the host matters, and an app on this device has none. */
function place(uri: string): Html {
  const url = URL.parse(uri)
  if (url === null) return html`<code>${uri}</code>`
  // Behind the scheme of an app, a host is just a word.
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return html`An app on this device that opens <code>${url.protocol}</code> links`
  if (url.protocol === 'http:' || isOfDevice(url.hostname))
    return html`A program on this device, <code>${url.host}</code>`
  return html`<b>${url.host}</b>`
}

function accountChoice({ accounts, chosen }: ConsentView): HtmlValue {
  if (accounts.length === 0) return null
  const [only] = accounts
  if (accounts.length === 1)
    return html`<div class="card"><h2>In the account</h2><p>${isolated(only!.name)}</p><input type="hidden" name="account" value="${only!.id}"></div>`
  return html`<div class="card"><fieldset><legend><h2>In which account?</h2></legend>
<ul class="options">
${accounts.map(
  (one, i) =>
    html`<li class="option"><input type="radio" name="account" id="account-${i}" value="${one.id}" required${one.id === chosen?.account && html` checked`}><div><label for="account-${i}">${accountName(one, accounts)}</label></div></li>
`,
)}</ul></fieldset></div>
`
}

/** Scopes of identity in plain words, for people who do not know the protocol. */
const identityWords: Readonly<Record<string, readonly [name: string, description: string]>> = {
  openid: ['Recognize you', 'Know by an id that it is you, each time that you sign in to it.'],
  email: ['Your email address', 'See your email address, once it is verified.'],
  profile: ['Your name', 'See your name.'],
  offline_access: ['Stay connected', 'Act for you while you are away, until you disconnect it.'],
  'user.read': ['Your profile', 'See your name and email address.'],
  'memberships.read': ['Your accounts', 'See the accounts that you are a member of or invited to.'],
  'memberships.write': [
    'Change your accounts',
    'Accept and decline invitations, and leave accounts, for you.',
  ],
  'user_access.read': [
    'Your sessions and apps',
    'See where you are signed in, and which apps may act for you.',
  ],
  'user_access.write': ['End your sessions and apps', 'Sign you out, and end what apps may do for you.'],
}

function scopeRow(scope: ShownScope, at: number, chosen: Chosen | null): Html {
  const { id, isOptional } = scope
  const [name, description] = identityWords[id] ?? [scope.name, scope.description]
  if (!isOptional)
    return html`<li class="option">${sign('check')}<div><b>${name}</b><p>${description}</p></div></li>
`
  const key = `scope-${id}-${at}`
  const isTicked = chosen === null || !chosen.declined.includes(id)
  return html`<li class="option"><input type="checkbox" name="${optionalPrefix}${id}" id="${key}" value="yes"${isTicked && html` checked`} aria-describedby="${key}-what"><div><label for="${key}">${name} <span class="tag">Optional</span></label><p id="${key}-what">${description}</p></div></li>
`
}

export const optionalPrefix = 'optional.'

interface RefusedView {
  readonly app: ShownApp
  readonly email: string
  readonly token: string
  readonly action: string
  readonly redirectUri: string
  readonly self: string
  readonly reason: 'not a member' | 'no account' | 'not allowed' | 'no second factor'
}

/** Explains why this person cannot authorize the app, and leads back to it. */
export function refusedPage({ app, email, token, action, redirectUri, self, reason }: RefusedView): Page {
  const [title, words] = reasons[reason]
  const [href, text] =
    reason === 'no second factor'
      ? [paths.account, 'Your profile']
      : [leadingOn(paths.signOut, self), 'Switch user']
  return {
    title,
    status: 403,
    content: html`${heading(app, html`${title}`)}
<p class="lead"><b>${isolated(callNameOf(app))}</b> ${words}</p>
<div class="card">
${facts([
  ['Calls itself', claimedName(app)],
  ['Its name', nameDoubt(app)],
  ['You', isolated(email)],
])}
${form({ action, token }, html`<div class="choice"><a class="button plain" href="${href}">${text}</a><button class="plain" name="decision" value="deny">Back to the app</button></div>`)}
</div>`,
    formScheme: appSchemeOf(redirectUri),
    hasPictures: app.logo !== null,
  }
}

const reasons = {
  'not a member': [
    'This app is private',
    'is only for members of the account that registered it, and you are not one. An administrator of that account can invite you.',
  ],
  'no account': [
    'None of your accounts allows this',
    'asks for more than your roles reach in any of your accounts. An administrator can give you a role that covers it.',
  ],
  'not allowed': [
    'Your accounts do not allow this app',
    'is not registered with an account, and none of yours lets such apps act in it. An administrator can change that in the settings of the account.',
  ],
  'no second factor': [
    'Turn on two-step sign-in first',
    'asks for an account that requires it of its members. Turn it on in your profile, then come back from the app.',
  ],
} as const

/** A page of its own: the policy on forms would also apply to all redirects after the form. */
export function leavePage(location: string): Page {
  return {
    title: 'One moment',
    content: html`<h1>One moment</h1>
<p class="lead">You are on your way back to the app.</p>
<p class="aside"><a class="button plain" href="${location}">Continue</a></p>`,
    leadsTo: location,
  }
}
