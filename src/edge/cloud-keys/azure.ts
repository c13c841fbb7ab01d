// Keys for Azure: tokens of an application in Microsoft Entra, or of a managed identity.

import type { CloudIdentity, EntraIdentity } from '../../config/model/cloud-config.ts'
import type { SendKeyCall } from './key-call.ts'
import type { Minted } from './made-key.ts'
import { form, formType, tokenIn } from './oauth.ts'
import { tokenFile } from './token-file.ts'

/** By the client credentials of an application (RFC 6749 section 4.4, RFC 7523 section 2.2). */
export async function entraToken(
  { authority, tenant, clientId, proof, scope }: EntraIdentity,
  send: SendKeyCall,
  now: number,
): Promise<Minted> {
  const body = {
    grant_type: 'client_credentials',
    client_id: clientId,
    scope,
    ...('secret' in proof
      ? { client_secret: proof.secret }
      : { client_assertion_type: assertionType, client_assertion: await tokenFile(proof.file) }),
  }
  const url = `${authority}/${tenant}/oauth2/v2.0/token`
  return tokenIn(await send({ url, method: 'POST', headers: formType, body: form(body) }), now)
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** From the endpoint of App Service and Container Apps, or the metadata service of a virtual machine. */
export async function managedIdentityToken(
  { clientId, scope }: CloudIdentity & { readonly by: 'azure_machine' },
  send: SendKeyCall,
  now: number,
): Promise<Minted> {
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: secret } = process.env
  const query = {
    resource: scope.replace(/\/\.default$/, ''),
    ...(clientId !== null && { client_id: clientId }),
  }
  const call =
    endpoint !== undefined && secret !== undefined
      ? {
          url: `${endpoint}?${form({ 'api-version': '2019-08-01', ...query })}`,
          headers: { 'x-identity-header': secret },
        }
      : {
          url: `${metadataHost()}/metadata/identity/oauth2/token?${form({ 'api-version': '2018-02-01', ...query })}`,
          headers: { metadata: 'true' },
        }
  return tokenIn(await send(call, 'direct'), now)
}

function metadataHost(): string {
  return process.env.AZURE_POD_IDENTITY_AUTHORITY_HOST?.replace(/\/$/, '') || 'http://169.254.169.254'
}
