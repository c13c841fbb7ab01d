// When a person has to do something before an app gets a code: sign in, choose an account, consent.

import type { Context, EngineModule } from './engine-types.ts'

type Policy = EngineModule['interactionPolicy']

/** Makes the prompts in the order in which they are asked; `needsConsent` decides on the last. */
export function prompts(
  { Prompt, Check, base }: Policy,
  needsConsent: (context: Context) => boolean,
): readonly object[] {
  const consent = new Check('not_granted', 'consent is missing', 'consent_required', needsConsent)
  return [
    base().get('login')!,
    new Prompt({ name: 'select_account', requestable: true }),
    new Prompt({ name: 'consent', requestable: true }, consent),
  ]
}
