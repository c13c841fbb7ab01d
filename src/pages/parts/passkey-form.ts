// Forms that an authenticator fills in, once the script of their page has asked it.

import { type Html, html } from '../../base/text/html.ts'
import { type FormFrame, form } from './components.ts'

/** The options of WebAuthn, as JSON has them. */
export type PasskeyOptions = Readonly<Record<string, unknown>>

export interface PasskeyPrompt {
  readonly token: string
  readonly options: PasskeyOptions
}

interface PasskeyForm extends Omit<FormFrame, 'data'> {
  readonly ceremony: 'create' | 'get'
  readonly options: PasskeyOptions
  /** Whether the browser may offer passkeys in the field for the address, too. */
  readonly isAutofill?: boolean
}

/** Hidden where a browser runs no script or has no passkeys; its page must have `hasPasskeys`. */
export function passkeyForm(
  { ceremony, options, isAutofill = false, hidden = {}, ...frame }: PasskeyForm,
  content: Html,
): Html {
  const data = { ceremony, options: JSON.stringify(options), ...(isAutofill && { autofill: '' }) }
  return form(
    { ...frame, hidden: { ...hidden, response: '' }, data },
    html`<p class="fault" role="alert" hidden></p>
${content}`,
  )
}
