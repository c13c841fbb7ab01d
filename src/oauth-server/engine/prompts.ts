// What a person must do before an app gets a code: sign in, choose an account, consent.

import type { Context, Library } from './library.ts'

type Policy = Library['interactionPolicy']

interface Needs {
  readonly consent: (context: Context) => boolean
  readonly confirmation: (context: Context) => boolean
  readonly newHost: (context: Context) => boolean
}

export function prompts({ Prompt, Check, base }: Policy, needs: Needs): readonly object[] {
  const consent = new Check('not_granted', 'consent is missing', 'consent_required', needs.consent)
  const confirmation = new Check(
    'not_confirmed',
    'the person must confirm: the client is public, and other programs on the device can use its redirect_uri',
    'consent_required',
    needs.confirmation,
  )
  const newHost = new Check(
    'redirect_host_not_seen',
    'the person must confirm: what they allowed before was for redirects to other hosts',
    'consent_required',
    needs.newHost,
  )
  return [
    base().get('login')!,
    new Prompt({ name: 'select_account', requestable: true }),
    new Prompt({ name: 'consent', requestable: true }, consent, confirmation, newHost),
  ]
}
