// The settings of providers of clouds: where they are called, and what their keys are made from.

import { type Findings, stepInto } from '../file/mistake.ts'
import type { CloudIdentity } from '../model/cloud-config.ts'
import type { ProviderConfig } from '../model/config.ts'
import type { AwsSettings, EntraSettings } from '../settings/cloud-settings.ts'
import type { ProviderSettings } from '../settings/schema.ts'
import type { Placed } from '../shape/shape.ts'

/** The settings of one cloud, which have no meaning for other providers. */
const own = {
  resources: 'azure-openai',
  entra: 'azure-openai',
  locations: 'google-vertex-ai',
  project: 'google-vertex-ai',
  service_account: 'google-vertex-ai',
  aws: 'aws-bedrock',
  regions: 'aws-bedrock',
} as const satisfies Partial<Record<keyof ProviderSettings, string>>

const required: ReadonlyMap<string, readonly ('project' | 'locations' | 'regions')[]> = new Map([
  ['google-vertex-ai', ['project', 'locations']],
  ['aws-bedrock', ['regions']],
])

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
  const identitySetting = value.entra ?? value.service_account ?? value.aws
  if (identitySetting !== null && value.keys.value.length > 0)
    findings.flaw(identitySetting, 'cannot be combined with keys: leave one of the two out')
  for (const setting of required.get(name) ?? [])
    if (value[setting] === null && !findings.concern(stepInto(provider.path, setting)))
      findings.flaw(provider, `must have ${setting === 'project' ? 'a project' : setting}`)
  return {
    resources: (value.resources ?? value.locations ?? value.regions)?.value ?? [],
    project: value.project?.value ?? null,
    identity: identityOf(value, findings),
  }
}

function identityOf(
  { entra, service_account: account, aws, regions }: ProviderSettings,
  findings: Findings,
): CloudIdentity | null {
  if (entra !== null) return entraOf(entra, findings)
  if (aws !== null) return awsOf(aws, regions?.value[0] ?? 'us-east-1', findings)
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
    if (tenant !== null && !findings.concern(place.path))
      findings.flaw(place, 'must have client_secret or token_file beside tenant')
    return { by: 'azure_machine', clientId, scope }
  }
  if (tenant === null || clientId === null) {
    if (!findings.concern(place.path)) findings.flaw(place, 'must have tenant and client_id')
    return null
  }
  return { by: 'entra', authority, tenant: tenant.value, clientId, proof, scope }
}

/** An access key, or a role with the token of a workload. */
function awsOf(
  { value, ...place }: Placed<AwsSettings | null>,
  region: string,
  findings: Findings,
): CloudIdentity | null {
  if (value === null) return { by: 'aws_machine', region }
  const {
    access_key_id: id,
    secret_access_key: secret,
    session_token: token,
    role,
    token_file: file,
    sts,
  } = value
  const ofKey = id ?? secret ?? token
  const ofRole = role ?? file ?? sts
  if (ofKey !== null && ofRole !== null)
    findings.flaw(ofRole, 'cannot be combined with an access key: leave one of the two out')
  if (id !== null && secret !== null) {
    const sessionToken = token?.value ?? null
    return { by: 'aws_keys', accessKeyId: id.value, secretAccessKey: secret.value, sessionToken }
  }
  if (role !== null && file !== null)
    return { by: 'aws_role', roleArn: role.value, file: file.value, url: sts?.value ?? null, region }
  const missing = ofRole !== null ? 'role and token_file' : 'access_key_id and secret_access_key'
  if (!findings.concern(place.path)) findings.flaw(place, `must have ${missing}`)
  return null
}
