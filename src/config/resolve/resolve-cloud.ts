// The settings of providers of clouds: where they are called, and what their keys are made from.

import { type Findings, stepInto } from '../file/mistake.ts'
import type { CloudIdentity } from '../model/cloud-config.ts'
import type { ProviderConfig } from '../model/config.ts'
import type { EntraSettings } from '../settings/cloud-settings.ts'
import type { ProviderSettings } from '../settings/schema.ts'
import type { Placed } from '../shape/shape.ts'

/** The settings of one cloud, which have no meaning for other providers. */
const own = {
  resources: 'azure-openai',
  entra: 'azure-openai',
  locations: 'google-vertex-ai',
  project: 'google-vertex-ai',
  service_account: 'google-vertex-ai',
} as const satisfies Partial<Record<keyof ProviderSettings, string>>

/** Records settings of another cloud, and those that contradict each other. */
export function resolveCloud(
  name: string,
  provider: Placed<ProviderSettings>,
  findings: Findings,
): Pick<ProviderConfig, 'resources' | 'project' | 'identity'> {
  const { value } = provider
  for (const [setting, cloud] of Object.entries(own)) {
    const placed = value[setting as keyof typeof own]
    if (placed !== null && name !== cloud) findings.flaw(placed, `is only for ${cloud}`)
  }
  const identitySetting = value.entra ?? value.service_account
  if (identitySetting !== null && value.keys.value.length > 0)
    findings.flaw(identitySetting, 'cannot be combined with keys: leave one of the two out')
  if (name === 'google-vertex-ai') requireVertex(provider, findings)
  return {
    resources: (value.resources ?? value.locations)?.value ?? [],
    project: value.project?.value ?? null,
    identity: identityOf(value, findings),
  }
}

function requireVertex(provider: Placed<ProviderSettings>, findings: Findings): void {
  for (const setting of ['project', 'locations'] as const)
    if (provider.value[setting] === null && !findings.concern(stepInto(provider.path, setting)))
      findings.flaw(provider, `must have ${setting === 'project' ? 'a project' : 'locations'}`)
}

function identityOf(
  { entra, service_account: account }: ProviderSettings,
  findings: Findings,
): CloudIdentity | null {
  if (entra !== null) return entraOf(entra, findings)
  if (account === null) return null
  return account.value ?? { by: 'google_machine' }
}

const usualScope = 'https://cognitiveservices.azure.com/.default'

/** Without a secret or a file, the identity of the machine is used. */
function entraOf(
  { value, ...place }: Placed<EntraSettings | null>,
  findings: Findings,
): CloudIdentity | null {
  if (value === null) return { by: 'azure_machine', clientId: null, scope: usualScope }
  const { tenant, client_id: clientId, client_secret: secret, token_file: file, authority, scope } = value
  if (secret !== null && file !== null)
    findings.flaw(file, 'cannot be combined with client_secret: leave one of the two out')
  const proof = secret !== null ? { secret: secret.value } : file !== null ? { file: file.value } : null
  if (proof === null) {
    if (tenant !== null) findings.flaw(place, 'must have client_secret or token_file beside tenant')
    return { by: 'azure_machine', clientId, scope }
  }
  if (tenant === null || clientId === null) {
    if (!findings.concern(place.path)) findings.flaw(place, 'must have tenant and client_id')
    return null
  }
  return { by: 'entra', authority, tenant: tenant.value, clientId, proof, scope }
}
