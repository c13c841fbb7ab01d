// The pages of joining: the first administrator, invited people, and sign-up.

import { type Html, html } from '../../base/text/html.ts'
import { button, facts, field, form, isolated } from '../parts/components.ts'
import type { Page } from '../parts/layout.ts'
import { invitationPath, leadingOn, paths } from '../parts/paths.ts'
import { page, type Retry, trouble } from './sign-in.ts'

export const passwordHint =
  'At least 12 characters. A few words in a row are good; what is on lists of common passwords is refused.'

interface SetUpView extends Retry {
  readonly token: string
  readonly link: string
  readonly email: string | null
}

export function setUpPage(view: SetUpView): Page {
  const { token, link, email } = view
  return page(
    view,
    'Set up Gatehouse',
    html`<h1>Set up Gatehouse</h1>
<p class="lead">You become the first super administrator: you can invite others, register apps and change every setting.</p>
${trouble(view)}<div class="card">
${form(
  { action: paths.setUp, token, hidden: { token: link } },
  html`${personFields(view, email)}
${button('Create administrator', 'full')}`,
)}</div>
<p class="aside">This link works once.</p>`,
  )
}

interface InvitationView extends Retry {
  readonly token: string
  readonly link: string
  readonly account: string
  readonly email: string
  readonly roles: readonly string[]
  /** Whether a user with this address exists, who signs in to accept. */
  readonly isKnown: boolean
  readonly signedInAs: string | null
  readonly signOutToken: string
  readonly provider?: string | null
}

export function invitationPage(view: InvitationView): Page {
  const { account, email, roles, signedInAs } = view
  return page(
    view,
    `Join ${account}`,
    html`<h1>Join ${isolated(account)}</h1>
<p class="lead">You are invited to this account.</p>
${trouble(view)}<div class="card">
${facts([
  ['For', isolated(email)],
  ['As', roles.join(', ')],
])}
</div>
<div class="card">
${signedInAs === null ? comeIn(view) : accept(view, signedInAs)}
</div>
<p class="aside">You did not expect this? Close the page: nothing happens.</p>`,
  )
}

function accept({ token, signOutToken, link, email }: InvitationView, signedInAs: string): Html {
  if (signedInAs === email)
    return form(
      { action: paths.invitation, token, hidden: { token: link } },
      html`<p>You are signed in as <b>${isolated(email)}</b>.</p>
${button('Accept the invitation', 'full')}`,
    )
  return html`<p>You are signed in as <b>${isolated(signedInAs)}</b>, and the invitation is for <b>${isolated(email)}</b>. Sign out, then sign in as the person who is invited.</p>
${form({ action: paths.signOut, token: signOutToken, hidden: { next: invitationPath(link) } }, button('Sign out', 'plain full'))}`
}

function comeIn(view: InvitationView): Html {
  const { token, link, email, isKnown, provider = null } = view
  const next = invitationPath(link)
  const own = isKnown
    ? html`<p>Sign in as <b>${isolated(email)}</b> to accept.</p>
<a class="button full" href="${leadingOn(paths.signIn, next)}">Sign in to accept</a>`
    : form(
        { action: paths.invitation, token, hidden: { token: link } },
        html`${personFields(view, email)}
${button('Accept the invitation', 'full')}`,
      )
  if (provider === null) return own
  return html`${own}
<p class="or">or</p>
<a class="button plain full" href="${leadingOn(paths.provider, next)}"><span>Continue with ${isolated(provider)}</span></a>`
}

interface SignUpView extends Retry {
  readonly token: string
  readonly next: string
}

export function signUpPage(view: SignUpView): Page {
  const { token, next } = view
  return page(
    view,
    'Create an account',
    html`<h1>Create an account</h1>
<p class="lead">With it you can connect apps. To manage a gateway, you also need an invitation from its administrators.</p>
${trouble(view)}<div class="card">
${form(
  { action: paths.signUp, token, hidden: { next } },
  html`${personFields(view, null)}
${button('Create account', 'full')}`,
)}</div>
<p class="aside">Have an account? <a href="${leadingOn(paths.signIn, next)}">Sign in</a></p>`,
  )
}

function personFields({ input = {}, faults = {} }: Retry, email: string | null): Html {
  return html`${
    email === null
      ? field({
          name: 'email',
          label: 'Email',
          type: 'email',
          value: input.email ?? '',
          autocomplete: 'username',
          maxLength: 254,
          fault: faults.email,
          hasFocus: Object.keys(faults).length === 0,
        })
      : html`<div class="field"><label for="email">Email</label><input id="email" name="email" type="email" autocomplete="username" value="${email}" readonly></div>`
  }
<div class="pair">
${field({ name: 'first_name', label: 'First name', value: input.first_name ?? '', autocomplete: 'given-name', isOptional: true, maxLength: 60, fault: faults.first_name })}
${field({ name: 'last_name', label: 'Last name', value: input.last_name ?? '', autocomplete: 'family-name', isOptional: true, maxLength: 60, fault: faults.last_name })}
</div>
${field({ name: 'password', label: 'Password', type: 'password', hint: passwordHint, autocomplete: 'new-password', minimum: 12, maxLength: 1024, fault: faults.password })}`
}
