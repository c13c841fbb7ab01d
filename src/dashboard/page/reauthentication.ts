// Interposed pages between a form and its effect: a fresh proof of identity before a risky action, and a
// confirmation that the person sent the form. The pages retain the input.

import { type Html, html } from '../../base/text/html.ts'
import { button, field, form, type FormFrame, notice, isolated } from '../../pages/parts/components.ts'
import type { Form } from '../../pages/forms/form.ts'
import { leadingOn, paths as ownPaths } from '../../pages/parts/paths.ts'
import type { Effect, View } from './page-request.ts'

/**
 * Prefix of the names of fields whose input no page shows or retains: the API has no member with such a name.
 */
const unheld = 'proof.'
export const proofField = `${unheld}password`

/** Whether a form requires a fresh proof of identity. */
export function needsProof(effect: Effect | undefined): boolean {
  return effect !== 'sets' && effect !== 'tries'
}

/** The input, which a page retains until it is sent again. */
interface Held {
  readonly frame: FormFrame
  readonly sent: Form
  readonly email: string
}

interface Question extends Held {
  readonly fault?: string
  readonly trouble?: string
  readonly status?: number
}

/** Asks for the password of a person, and retains the input. */
export function askForPassword({ fault, trouble, status = 403, ...held }: Question): View {
  const password = field({
    name: proofField,
    label: 'Password',
    type: 'password',
    autocomplete: 'current-password',
    fault,
    maxLength: 1024,
    hasFocus: true,
  })
  return {
    title: 'Confirm that it is you',
    status,
    content: html`${trouble !== undefined && notice(trouble, 'bad')}<div class="card">
<p>This needs a proof of the last 30 minutes that it is you. Enter the password of ${isolated(held.email)}, and what you sent is done.</p>
${holding(held, html`${password}${button('Confirm and go on')}`)}
</div>`,
  }
}

/** Sends a person without a password to their provider, in another tab, and retains the input. */
export function askForProvider(held: Held): View {
  const signIn = leadingOn(ownPaths.signIn, ownPaths.account, { fresh: '1' })
  return {
    title: 'Sign in again',
    status: 403,
    content: html`<div class="card">
<p>This needs a proof of the last 30 minutes that it is you, and your sign-in at the provider is older, or the provider did not say when it was. Nothing was done yet.</p>
<p><a class="button plain" href="${signIn}" target="_blank">Sign in again in a new tab</a></p>
<p>Then come back to this one:</p>
${holding(held, button('Go on with what I sent'))}
</div>`,
  }
}

/**
 * Retains the input of a form that was made for another session, until the person of this one sends it
 * themselves.
 */
export function askAgain(held: Held): View {
  return {
    title: 'Send it again?',
    status: 403,
    content: html`<div class="card">
<p>Nothing was done yet: you signed in or out since the form was loaded. You are signed in as ${isolated(held.email)} now.</p>
${holding(held, button('Send it'))}
</div>`,
  }
}

function holding({ frame, sent }: Held, content: Html): Html {
  const fields = [...sent].filter(([name]) => !name.startsWith(unheld) && name !== 'form_token')
  return form({ ...frame, hidden: Object.fromEntries(fields) }, content)
}
