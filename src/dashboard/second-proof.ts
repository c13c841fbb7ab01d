// What stands between a person and something dangerous when they last proved long ago who they are: the password, on a page that carries what they sent on.

import { html } from '../base/text/html.ts'
import { button, field, form, type FormFrame, notice, told } from '../pages/components.ts'
import type { Form } from '../pages/form.ts'
import { leadingOn, paths as ownPaths } from '../pages/paths.ts'
import type { View } from './ask.ts'

/** The field of the password: the API knows no member of such a name. */
export const proofField = 'proof.password'

interface Question {
  readonly frame: FormFrame
  /** What was sent, which is sent again with the password. */
  readonly sent: Form
  readonly email: string
  readonly fault?: string
  readonly trouble?: string
  readonly status?: number
}

/** Asks for the password of a person, and holds what they sent meanwhile. */
export function askForPassword({ frame, sent, email, fault, trouble, status = 403 }: Question): View {
  const hidden = Object.fromEntries(
    [...sent].filter(([name]) => name !== proofField && name !== 'form_token'),
  )
  const password = field({
    name: proofField,
    label: 'Password',
    type: 'password',
    autocomplete: 'current-password',
    fault,
    most: 1024,
    hasFocus: true,
  })
  return {
    title: 'Confirm that it is you',
    status,
    content: html`${trouble !== undefined && notice(trouble, 'bad')}<div class="card">
<p>You signed in more than 30 minutes ago. Enter the password of ${told(email)}, and what you sent is done.</p>
${form({ ...frame, hidden }, html`${password}${button('Confirm and go on')}`)}
</div>`,
  }
}

/** Sends a person without a password to their provider: what they sent has to be sent again. */
export function askForProvider(path: string): View {
  return {
    title: 'Sign in again',
    status: 403,
    content: html`<div class="card">
<p>You signed in more than 30 minutes ago, and this needs a fresh proof that it is you. Nothing was done yet.</p>
<p><a class="button" href="${leadingOn(ownPaths.signIn, path, { fresh: '1' })}">Sign in again</a></p>
</div>`,
  }
}
