// The pages of a person's own account.

import { type Html, type HtmlValue, html } from '../../base/text/html.ts'
import { mixedScripts } from '../../oauth/clients/name-scripts.ts'
import { wordsOf } from '../../oauth/grants/resource-indicator.ts'
import type { Api } from '../../store/records/records.ts'
import { accountName, button, field, form, moment, notice, isolated } from '../parts/components.ts'
import type { Page } from '../parts/layout.ts'
import type { NoPasskeys } from '../../people/passkeys/relying-party.ts'
import { passkeyForm, type PasskeyPrompt } from '../parts/passkey-form.ts'
import { ownTokensOf, paths } from '../parts/paths.ts'
import { qrCode } from '../parts/qr.ts'
import { describeUserAgent } from '../parts/user-agent.ts'
import { passwordHint } from './join.ts'
import { page, type Retry, trouble } from './sign-in.ts'

interface ShownSession {
  readonly id: string
  readonly userAgent: string | null
  readonly address: string | null
  /** In ms since the epoch, like all times here. */
  readonly createdAt: number
  readonly usedAt: number
  readonly isThis: boolean
}

export interface ShownGrant {
  readonly id: string
  readonly app: string
  readonly account: string | null
  readonly scopes: readonly string[]
  readonly apis: readonly Api[]
  readonly resources: readonly string[]
  readonly createdAt: number
}

interface ShownPasskey {
  readonly id: string
  readonly name: string
  /** Null for the host of this page. */
  readonly otherHost: string | null
  readonly createdAt: number
  readonly usedAt: number | null
}

interface ShownInvitation {
  readonly id: string
  readonly account: string
  readonly roles: readonly string[]
}

export const accountMessages = {
  password: 'Your password is changed. All other sessions were ended.',
  two_step_on: 'Two-step sign-in is on.',
  two_step_off: 'Two-step sign-in is off.',
  passkey_added: 'The passkey was added. You can sign in with it alone.',
  passkey_removed:
    'The passkey was removed, and opens nothing any more. Sessions that it began go on: end them here if somebody else may have it.',
  session: 'The session was ended.',
  app: 'The app was disconnected: its tokens no longer work.',
  declined: 'The invitation was declined.',
} as const

export type AccountMessage = keyof typeof accountMessages

interface AccountView extends Retry {
  readonly tokenFor: (action: string) => string
  readonly email: string
  readonly name: string | null
  readonly hasPassword: boolean
  readonly hasApp: boolean
  readonly passkeys: readonly ShownPasskey[]
  /** Why no passkey can be added here; null if one can. */
  readonly noPasskeys: NoPasskeys | null
  readonly recoveryCodes: number
  readonly mustTwoStep?: boolean
  readonly isMember: boolean
  readonly running: readonly { readonly id: string; readonly name: string }[]
  readonly hasDashboard: boolean
  readonly invitations: readonly ShownInvitation[]
  readonly sessions: readonly ShownSession[]
  readonly grants: readonly ShownGrant[]
  readonly done?: AccountMessage | null
}

export function accountPage(view: AccountView): Page {
  const { tokenFor, email, name, isMember, hasDashboard, done = null } = view
  return {
    ...page(
      view,
      'Your profile',
      html`${
        isMember &&
        hasDashboard &&
        html`<p class="back"><a href="${paths.dashboard}">Back to the dashboard</a></p>
`
      }<h1>Your profile</h1>
<p class="lead">${name !== null && html`${isolated(name)}, `}<b>${isolated(email)}</b></p>
${
  done !== null &&
  html`${notice(accountMessages[done], 'good')}
`
}${trouble(view)}${invitationSection(view)}${passwordSection(view)}
${passkeySection(view)}
${twoStepSection(view)}
${sessionSection(view)}
${tokenSection(view)}${grantSection(view)}
<div class="aside">${form({ action: paths.signOut, token: tokenFor(paths.signOut) }, button('Sign out', 'plain'))}</div>`,
    ),
    isWide: true,
  }
}

function invitationSection({ tokenFor, isMember, invitations }: AccountView): HtmlValue {
  if (invitations.length === 0)
    return (
      !isMember &&
      html`${notice('You are in no account yet. An administrator of one can invite you with a link.')}
`
    )
  const accept = paths.acceptInvitation
  const decline = paths.declineInvitation
  return html`<section class="card" aria-labelledby="invitations-title"><h2 id="invitations-title">Invitations</h2>
<ul class="rows">
${invitations.map(
  ({ id, account, roles }) => html`<li><div><b>${isolated(account)}</b>
<p>As ${roles.join(', ')}</p></div>
<div class="actions">${form({ action: accept, token: tokenFor(accept), hidden: { membership: id } }, html`<button class="small" aria-label="${`Accept the invitation to ${account}`}">Accept</button>`)}
${form({ action: decline, token: tokenFor(decline), hidden: { membership: id } }, namedButton('Decline', `Decline the invitation to ${account}`))}</div></li>
`,
)}</ul></section>
`
}

function passwordSection({ tokenFor, email, hasPassword, faults = {} }: AccountView): Html {
  if (!hasPassword)
    return html`<section class="card" aria-labelledby="password-title"><h2 id="password-title">Password</h2>
<p>You sign in with your OpenID provider, and have no password here.</p></section>`
  const action = paths.password
  return html`<section class="card" aria-labelledby="password-title"><h2 id="password-title">Password</h2>
${form(
  { action, token: tokenFor(action) },
  html`<input type="text" name="email" value="${email}" autocomplete="username" hidden>
${field({ name: 'password', label: 'Current password', type: 'password', autocomplete: 'current-password', maxLength: 1024, fault: faults.password })}
${field({ name: 'new_password', label: 'New password', type: 'password', hint: passwordHint, autocomplete: 'new-password', minimum: 12, maxLength: 1024, fault: faults.new_password })}
<p class="hint">All your other sessions end when you change it.</p>
${button('Change password', 'plain')}`,
)}</section>`
}

const noPasskeysBecause = {
  address:
    'Browsers make passkeys for names, and this page was opened at an address of numbers. Open it by its name over https to add one.',
  plain_http:
    'Browsers make passkeys only over https, and this page was opened over plain HTTP. Ask the operator for its https address to add one.',
} as const satisfies Record<NoPasskeys, string>

function passkeySection({ tokenFor, hasPassword, passkeys, noPasskeys }: AccountView): Html {
  const action = paths.passkeyRemove
  return html`<section class="card" aria-labelledby="passkeys-title"><h2 id="passkeys-title">Passkeys</h2>
${
  passkeys.length === 0
    ? html`<p>${hasPassword ? 'None. With one, your fingerprint, face or PIN signs you in, and after your password it is the second step.' : 'Your OpenID provider decides how you prove who you are.'}</p>`
    : html`<ul class="rows">
${passkeys.map(
  ({ id, name, otherHost, createdAt, usedAt }) => html`<li><div><b>${isolated(name)}</b>
<p>${otherHost !== null && html`For ${isolated(otherHost)}. `}Added ${moment(createdAt)}, ${usedAt === null ? 'never used' : html`last used ${moment(usedAt)}`}.</p></div>
${form({ action, token: tokenFor(action), hidden: { passkey: id } }, namedButton('Remove', `Remove the passkey ${name}`))}</li>
`,
)}</ul>`
}
${hasPassword && (noPasskeys === null ? html`<p><a class="button plain" href="${paths.passkeys}">Add a passkey</a></p>` : html`<p class="hint">${noPasskeysBecause[noPasskeys]}</p>`)}</section>`
}

function twoStepSection({
  tokenFor,
  hasApp,
  passkeys,
  recoveryCodes,
  mustTwoStep,
  hasPassword,
}: AccountView): Html {
  const off = paths.twoStepOff
  const codes = paths.recoveryCodes
  const left = recoveryCodes === 1 ? '1 recovery code is left' : `${recoveryCodes} recovery codes are left`
  const renewCodes = form({ action: codes, token: tokenFor(codes) }, button('New recovery codes', 'plain'))
  return html`<section class="card" aria-labelledby="two-step-title"><h2 id="two-step-title">Two-step sign-in</h2>
${
  hasApp
    ? html`<p>On. After your password you enter a code from your authenticator app${passkeys.length > 0 && ', or use a passkey'}. ${left}.</p>
<div class="actions">${renewCodes}
${form({ action: off, token: tokenFor(off) }, button('Turn off', 'danger'))}</div>`
    : html`<p>${
        passkeys.length > 0
          ? `On, with your passkeys alone. An authenticator app can stand in for them. ${left}.`
          : hasPassword
            ? 'Off. With it, a stolen password alone opens nothing.'
            : 'Your OpenID provider decides how you prove who you are.'
      }${mustTwoStep === true && html` <b>An account that you are a member of requires it.</b>`}</p>
<div class="actions">${passkeys.length > 0 && renewCodes}
${hasPassword && form({ action: paths.twoStep, token: tokenFor(paths.twoStep) }, button(passkeys.length > 0 ? 'Add an app' : 'Turn on', 'plain'))}</div>`
}</section>`
}

function sessionSection({ tokenFor, sessions }: AccountView): Html {
  const one = paths.endSession
  const all = paths.endAllSessions
  return html`<section class="card" aria-labelledby="sessions-title"><h2 id="sessions-title">Sessions</h2>
<ul class="rows">
${sessions.map(({ id, userAgent, address, createdAt, usedAt, isThis }) => {
  const name = describeUserAgent(userAgent)
  return html`<li><div><b>${isolated(name)}</b>${isThis && html` <span class="tag">This browser</span>`}
<p>${address !== null && html`From ${isolated(address)}. `}Signed in ${moment(createdAt)}, last used ${moment(usedAt)}.</p></div>
${!isThis && form({ action: one, token: tokenFor(one), hidden: { session: id } }, namedButton('End', `End the session of ${name}`))}</li>
`
})}</ul>
${form(
  { action: all, token: tokenFor(all) },
  html`<p class="hint">To sign out everywhere ends all sessions, this one too, and the tokens of connected apps.</p>
${button('Sign out everywhere', 'danger')}`,
)}</section>`
}

function tokenSection({ hasDashboard, running }: AccountView): HtmlValue {
  return (
    hasDashboard &&
    running.length > 0 &&
    html`<section class="card" aria-labelledby="tokens-title"><h2 id="tokens-title">Your tokens</h2>
<p>Programs of yours call models with them, as you.</p>
<ul class="rows">
${running.map(
  account => html`<li><a href="${ownTokensOf(account.id)}">In ${accountName(account, running)}</a></li>
`,
)}</ul></section>
`
  )
}

function grantSection({ tokenFor, grants }: AccountView): Html {
  const action = paths.endGrant
  return html`<section class="card" aria-labelledby="apps-title"><h2 id="apps-title">Connected apps</h2>
${
  grants.length === 0
    ? html`<p>No app acts for you. When one asks to, and you allow it, it is listed here, and you can disconnect it.</p>`
    : html`<ul class="rows">
${grants.map(
  ({
    id,
    app,
    account,
    scopes,
    apis,
    resources,
    createdAt,
  }) => html`<li><div><b>${isolated(app)}</b>${mixedScripts(app).length > 0 && html` <span class="tag bad">mixed scripts</span>`}
<p>${account !== null && html`In ${isolated(account)}, for ${wordsOf(apis, resources)}. `}${account === null && resources.length > 0 && html`For ${wordsOf(apis, resources)}. `}Connected ${moment(createdAt)}.</p>
<details><summary>What it may do</summary><p>${scopes.length === 0 ? 'Nothing.' : scopes.join(', ')}</p></details></div>
${form({ action, token: tokenFor(action), hidden: { grant: id } }, namedButton('Disconnect', `Disconnect ${app}`))}</li>
`,
)}</ul>`
}</section>`
}

function namedButton(text: string, name: string): Html {
  return html`<button class="danger small" aria-label="${name}">${text}</button>`
}

interface EnrolView extends Retry {
  readonly token: string
  /** The address that authenticator apps read (Key URI Format). */
  readonly uri: string
  /** The same secret for typing, in base32. */
  readonly secret: string
}

export function enrolPage(view: EnrolView): Page {
  const { token, uri, secret, faults = {} } = view
  return page(
    view,
    'Turn on two-step sign-in',
    html`<h1>Turn on two-step sign-in</h1>
<p class="lead">You need an authenticator app, on your phone or in your password manager.</p>
${trouble(view)}<div class="card">
<h2>1. Scan this code with the app</h2>
${qrCode(uri, 'QR code for your authenticator app')}
<details><summary>Enter a key instead</summary><code class="key">${secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
<p class="hint">Time-based, 6 digits, 30 seconds. <a href="${uri}">Open in an app on this device</a></p></details>
</div>
<div class="card">
<h2>2. Enter the code that it shows</h2>
${form(
  { action: paths.twoStepConfirm, token },
  html`${field({ name: 'code', label: 'Code', autocomplete: 'one-time-code', isCode: true, maxLength: 12, fault: faults.code })}
${button('Turn on', 'full')}`,
)}</div>
<p class="aside"><a href="${paths.account}">Cancel</a></p>`,
  )
}

interface AddPasskeyView extends Retry, PasskeyPrompt {
  /** What the passkey is called, unless its owner types something else. */
  readonly name: string
}

export function addPasskeyPage(view: AddPasskeyView): Page {
  const { token, options, name } = view
  return page(
    view,
    'Add a passkey',
    html`<h1>Add a passkey</h1>
<p class="lead">It is made by this device, your phone, a security key or your password manager, and asks for your fingerprint, face or PIN each time.</p>
${trouble(view)}<div class="card">
<div data-passkeys hidden>${passkeyForm(
      { ceremony: 'create', options, action: paths.passkeys, token },
      html`${field({ name: 'name', label: 'Name', hint: 'By which you will recognize it.', value: name, autocomplete: 'off', maxLength: 64 })}
${button('Add a passkey', 'full')}`,
    )}</div>
<p data-no-passkeys>Your browser offers no passkeys here, or runs no script.</p></div>
<p class="aside"><a href="${paths.account}">Cancel</a></p>`,
    true,
  )
}

export function recoveryCodesPage(
  codes: readonly string[],
  next = `${paths.account}?done=two_step_on`,
): Page {
  return {
    title: 'Recovery codes',
    content: html`<h1>Save your recovery codes</h1>
<p class="lead">Each is good once, after your password, when your authenticator app and your passkeys are lost. They are shown only now: print them, or keep them in a password manager.</p>
<div class="card">
<ol class="codes" aria-label="Recovery codes">
${codes.map(
  code => html`<li><code>${code}</code></li>
`,
)}</ol>
<a class="button full" href="${next}">I have saved them</a>
</div>`,
  }
}
