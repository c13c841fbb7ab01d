// The pages where people prove who they are.

import { type HtmlValue, html } from '../../base/text/html.ts'
import { button, field, form, notice, isolated } from '../parts/components.ts'
import type { Page } from '../parts/layout.ts'
import { passkeyForm, type PasskeyPrompt } from '../parts/passkey-form.ts'
import { safeReturnPath } from '../parts/return-path.ts'
import { leadingOn, paths } from '../parts/paths.ts'

export interface Retry {
  readonly input?: Readonly<Record<string, string>>
  readonly faults?: Readonly<Record<string, string>>
  readonly trouble?: string
  /** The HTTP status, and in how many seconds to retry. */
  readonly status?: number
  readonly retryAfter?: number
}

interface SignInView extends Retry {
  readonly token: string
  readonly next: string
  readonly app?: string | null
  readonly provider?: string | null
  readonly canSignUp?: boolean
  /** Whether the provider must ask who they are, even if it knows them. */
  readonly isFresh?: boolean
  readonly isFirst?: boolean
  /** Null where the host can have none. */
  readonly passkey?: PasskeyPrompt | null
  readonly done?: string
}

export function signInPage(view: SignInView): Page {
  const { token, next, app = null, provider = null, canSignUp = false, isFresh = false, input = {} } = view
  const { passkey = null } = view
  const email = input.email ?? ''
  return page(
    view,
    'Sign in',
    html`<h1>Sign in</h1>
${
  app !== null &&
  html`<p class="lead">to continue to <b>${isolated(app)}</b></p>
`
}${view.done !== undefined && notice(view.done, 'good')}${view.isFirst === true && notice(firstOfAll)}${trouble(view)}<div class="card">
${form(
  { action: paths.signIn, token, hidden: { next } },
  html`${field({ name: 'email', label: 'Email', type: 'email', value: email, autocomplete: passkey === null ? 'username' : 'username webauthn', hasFocus: email === '', maxLength: 254 })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', hasFocus: email !== '', maxLength: 1024 })}
${button('Sign in', 'full')}`,
)}
${
  passkey !== null &&
  html`<div data-passkeys hidden><p class="or">or</p>
${passkeyForm({ ...passkey, ceremony: 'get', isAutofill: true, action: paths.passkey, hidden: { next } }, button('Sign in with a passkey', 'plain full'))}</div>`
}
${
  provider !== null &&
  html`<p class="or">or</p>
<a class="button plain full" href="${leadingOn(paths.provider, next, isFresh ? { fresh: '1' } : {})}"><span>Continue with ${isolated(provider)}</span></a>`
}
</div>
${
  canSignUp
    ? html`<p class="aside">New here? <a href="${leadingOn(paths.signUp, next)}">Create an account</a></p>`
    : html`<p class="aside">No account, or lost your password? Ask an administrator for an invitation link.</p>`
}`,
    passkey !== null,
  )
}

const firstOfAll = html`Nobody can sign in yet. The first start printed a link that makes the first administrator; on the machine of the gateway, <code>gatehouse user invite</code> prints another.`

interface CodeView extends Retry {
  readonly token: string
  readonly ticket: string
  readonly next: string
  readonly hasApp: boolean
  /** Null without a passkey for this host. */
  readonly passkey?: PasskeyPrompt | null
  readonly opensRecovery?: boolean
}

export function codePage(view: CodeView): Page {
  const { token, ticket, next, hasApp, passkey = null, faults = {} } = view
  const hidden = { ticket, next }
  const frame = { action: paths.code, token, hidden }
  const hasNeither = !hasApp && passkey === null
  const isRecovery = view.opensRecovery === true || faults.recovery_code !== undefined || hasNeither
  return page(
    view,
    'Two-step sign-in',
    html`<h1>${hasApp ? 'Enter your code' : hasNeither ? 'Use a recovery code' : 'Use your passkey'}</h1>
<p class="lead">${
      hasApp
        ? 'Open your authenticator app, and enter the 6 digits that it shows for Gatehouse.'
        : hasNeither
          ? 'Your passkeys are for another address of these pages. Sign in there, or with a recovery code.'
          : 'The first step is done. Now show that you have your passkey.'
    }</p>
${trouble(view)}<div class="card">
${
  hasApp &&
  form(
    frame,
    html`${field({ name: 'code', label: 'Code', autocomplete: 'one-time-code', isCode: true, maxLength: 12, fault: faults.code, hasFocus: !isRecovery })}
${button('Sign in', 'full')}`,
  )
}
${
  passkey !== null &&
  html`<div data-passkeys hidden>${hasApp && html`<p class="or">or</p>`}
${passkeyForm({ ...passkey, ceremony: 'get', action: paths.codeByPasskey, hidden }, button('Use a passkey', hasApp ? 'plain full' : 'full'))}</div>
${!hasApp && html`<p data-no-passkeys>Your browser offers no passkeys here, or runs no script. A recovery code works everywhere.</p>`}`
}
<details${isRecovery && html` open`}><summary>Use a recovery code instead</summary>
${form(
  frame,
  html`${field({ name: 'recovery_code', label: 'Recovery code', hint: 'One of the codes that you saved when you turned on two-step sign-in. Each works once.', autocomplete: 'off', maxLength: 64, fault: faults.recovery_code })}
${button('Use this code', 'plain full')}`,
)}</details>
</div>
<p class="aside"><a href="${leadingOn(paths.signIn, next)}">Start over</a></p>`,
    passkey !== null,
  )
}

interface ConfirmView extends Retry {
  readonly token: string
  readonly next: string
  readonly email: string
  readonly hasPassword: boolean
  readonly provider?: string | null
  /** Null without a passkey for this host. */
  readonly passkey?: PasskeyPrompt | null
}

/** Asks for the password or a passkey again, since the session is too old for the next action. */
export function confirmPage(view: ConfirmView): Page {
  const { token, next, email, hasPassword, provider = null, passkey = null, faults = {} } = view
  return page(
    view,
    'Confirm that it is you',
    html`<h1>Confirm that it is you</h1>
<p class="lead">You are signed in as <b>${isolated(email)}</b>. What comes next needs a fresh proof that it is you.</p>
${trouble(view)}<div class="card">
${
  hasPassword &&
  form(
    { action: paths.confirm, token, hidden: { next } },
    html`<input type="text" name="email" value="${email}" autocomplete="username" hidden>
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', hasFocus: true, maxLength: 1024, fault: faults.password })}
${button('Confirm', 'full')}`,
  )
}
${
  passkey !== null &&
  html`<div data-passkeys hidden>${hasPassword && html`<p class="or">or</p>`}
${passkeyForm({ ...passkey, ceremony: 'get', action: paths.confirmByPasskey, hidden: { next } }, button('Use a passkey', 'plain full'))}</div>`
}
${hasPassword && provider !== null && html`<p class="or">or</p>`}
${provider !== null && html`<a class="button plain full" href="${leadingOn(paths.provider, next, { fresh: '1' })}"><span>Continue with ${isolated(provider)}</span></a>`}
</div>
<p class="aside"><a href="${paths.account}">Back to your profile</a></p>`,
    passkey !== null,
  )
}

interface SignOutView extends Retry {
  readonly token: string
  readonly email: string
  readonly next: string
}

/** Asks whether to sign out: another site could have set the link. */
export function signOutPage(view: SignOutView): Page {
  const { token, email, next } = view
  return page(
    view,
    'Sign out',
    html`<h1>Sign out?</h1>
<p class="lead">You are signed in as <b>${isolated(email)}</b>. Apps that you connected stay connected.</p>
${trouble(view)}<div class="card">
${form(
  { action: paths.signOut, token, hidden: { next: leadingOn(paths.signedOut, next) } },
  html`<div class="choice"><a class="button plain" href="${safeReturnPath(next, paths.account)}">Stay</a>${button('Sign out', 'plain')}</div>`,
)}</div>`,
  )
}

export function signedOutPage(next: string): Page {
  return {
    title: 'Signed out',
    content: html`<h1>You are signed out</h1>
<p class="lead">If others use this computer, close the browser too.</p>
<p class="aside"><a class="button plain" href="${leadingOn(paths.signIn, next)}">Sign in again</a></p>`,
  }
}

/** Puts the fault into the title too, which screen readers read first. */
export function page(
  { trouble, faults, status, retryAfter }: Retry,
  title: string,
  content: Page['content'],
  hasPasskeys = false,
): Page {
  const isFaulty = trouble !== undefined || Object.keys(faults ?? {}).length > 0
  return {
    title: isFaulty ? `Error: ${title}` : title,
    content,
    ...(hasPasskeys && { hasPasskeys }),
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

export function trouble({ trouble }: Retry): HtmlValue {
  return (
    trouble !== undefined &&
    html`${notice(trouble, 'bad')}
`
  )
}
