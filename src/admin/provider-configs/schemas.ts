// Schemas of keys of providers, in requests and in responses.

import { about, closed, flag, id, open, orNull, type Schema, text, time } from '../schema/schema.ts'
import { aliasPattern, providerPattern } from './body.ts'

const alias: Schema = about('Calls choose it by `svc-aig-byok-alias`.', { ...text, pattern: aliasPattern })
const isDefault = about('Whether calls use it that name no alias.', flag)
const provider = about('As callers name the provider; `custom-SLUG` for one of the account.', {
  ...text,
  pattern: providerPattern,
})

export const newProviderConfig = closed({
  provider_slug: provider,
  alias,
  default_config: isDefault,
  secret: about('The key.', { ...text, pattern: '^[!-~]{1,4096}$' }),
})

export const providerConfig = open({
  id,
  gateway_id: text,
  provider_slug: text,
  alias,
  default_config: isDefault,
  secret_id: about('Always empty: there is no store of secrets.', text),
  secret_preview: about('The last 4 characters of the key, unless it is short.', text),
  last_used_at: about('To the hour; null before the first call.', orNull(time)),
  modified_at: time,
})
