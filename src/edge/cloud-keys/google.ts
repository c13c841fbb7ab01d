// Keys for Google Cloud: access tokens of a service account.

import { sign } from 'node:crypto'
import type { ServiceAccount } from '../../config/model/cloud-config.ts'
import { type SendKeyCall, skewOf } from './key-call.ts'
import type { Minted } from './made-key.ts'
import { form, formType, tokenIn } from './oauth.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'

/** For an assertion signed with the key of the account (RFC 7523 section 2.1). */
export async function serviceAccountToken(
  account: ServiceAccount,
  send: SendKeyCall,
  now: number,
): Promise<Minted> {
  const ask = (at: number) => {
    const body = {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: assertionOf(account, at),
    }
    return send({ url: account.tokenUrl, method: 'POST', headers: formType, body: form(body) })
  }
  const response = await ask(now)
  const skew = skewOf(response, now)
  return tokenIn(response.status === 400 && skew !== 0 ? await ask(now + skew) : response, now)
}

function assertionOf({ email, keyId, privateKey, tokenUrl }: ServiceAccount, at: number): string {
  const iat = Math.floor(at / 1000)
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== null && { kid: keyId }) }
  const claims = { iss: email, scope, aud: tokenUrl, iat, exp: iat + 3600 }
  const signed = `${encoded(header)}.${encoded(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Of the service account that the machine or the pod has, from the metadata service. */
export async function metadataToken(send: SendKeyCall, now: number): Promise<Minted> {
  const host = process.env.GCE_METADATA_HOST || 'metadata.google.internal'
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`
  return tokenIn(await send({ url, headers: { 'metadata-flavor': 'Google' } }, 'direct'), now)
}
