// Reads the body of a key of a provider, in the shape of its published client.

import { providerKey } from '../../config/settings/ai-rules.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { Field } from '../http/field.ts'

interface NewProviderConfig {
  readonly provider: string
  readonly alias: string
  readonly isDefault: boolean
  readonly secret: string
}

const provider = /^[a-z0-9-]{1,64}$/
export const providerPattern = provider.source
const alias = /^[A-Za-z0-9._-]{1,64}$/
export const aliasPattern = alias.source

export function readProviderConfig(body: unknown): NewProviderConfig | readonly Fault[] {
  const faults: Fault[] = []
  const unsupported = ['secret_id', 'rate_limit', 'rate_limit_period'] as const
  const members = new Field(body, faults).members(
    ['provider_slug', 'alias', 'default_config', 'secret'],
    unsupported,
  )
  if (members.secret_id.value !== undefined)
    members.secret_id.refuse('is not supported: this gateway has no store of secrets; send `secret`')
  for (const name of ['rate_limit', 'rate_limit_period'] as const)
    if (members[name].value !== undefined)
      members[name].refuse('is not supported for a key: set the rate limit of the gateway')
  const read = {
    provider: members.provider_slug.ruled(text => (provider.test(text) ? null : providerRule)) ?? '',
    alias: members.alias.ruled(text => (alias.test(text) ? null : aliasRule)) ?? '',
    isDefault: members.default_config.flag() ?? false,
    secret: members.secret.by(providerKey) ?? '',
  }
  if (members.secret.value === '') members.secret.refuse('must not be empty')
  return faults.length > 0 ? faults : read
}

const providerRule = 'must be 1 to 64 lower-case letters, digits and hyphens'
const aliasRule = 'must be 1 to 64 letters, digits, dots, hyphens and underscores'
