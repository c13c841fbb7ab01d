// The settings from which keys of AI providers of clouds are made.

import { createPrivateKey } from 'node:crypto'
import type { Reading } from '../../base/text/quantity.ts'
import type { ServiceAccount } from '../model/cloud-config.ts'
import { baseUrl } from '../shape/base-url.ts'
import { isLoopback } from '../shape/host-rules.ts'
import { matching } from '../shape/rules.ts'
import { list, mapping, optional, placed, type Rule, scalar, type Value, wordOr } from '../shape/shape.ts'
import { placeName } from './ai-rules.ts'
import { existingFile } from './rule-data.ts'

const visible = matching(/^[!-~]{1,4096}$/, 'must be up to 4096 visible ASCII characters, without spaces')
const uuid = matching(
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  'must be a UUID, such as 00000000-0000-0000-0000-000000000000',
)
const tenant = matching(/^[\w.-]{1,253}$/, 'must be the id or a domain of the tenant')
const scope = matching(
  /^[!-~]{1,500}\/\.default$/,
  'must end in /.default, such as https://cognitiveservices.azure.com/.default',
)

// Unprinted, since a secret may have been written in place of the mapping.
const entra = mapping(
  {
    tenant: optional(placed(scalar(tenant)), null),
    client_id: optional(scalar(uuid), null),
    client_secret: optional(placed(scalar(visible, { unprinted: true })), null),
    token_file: optional(placed(existingFile), null),
    authority: optional(
      scalar(baseUrl('https://login.microsoftonline.com')),
      'https://login.microsoftonline.com',
    ),
    scope: optional(scalar(scope), 'https://cognitiveservices.azure.com/.default'),
  },
  { unprinted: true },
)

/** Reads the JSON of a key of a service account. No message shows it. */
const serviceAccount: Rule<ServiceAccount> = text => {
  const rule = 'must be the JSON key of a service account, such as file:service-account.json'
  const json = parse(text)
  if (json === null) return { flaw: rule }
  const { type, client_email: email, private_key: privateKey, private_key_id: keyId, token_uri } = json
  if (type !== 'service_account')
    return {
      flaw: `${rule}; its type is ${typeof type === 'string' && /^\w{1,40}$/.test(type) ? type : 'missing'}`,
    }
  if (typeof email !== 'string' || !/^[!-~]{3,320}$/.test(email))
    return { flaw: `${rule}; it has no client_email` }
  if (typeof privateKey !== 'string' || !isRsa(privateKey))
    return { flaw: `${rule}; it has no RSA private_key` }
  const url = tokenUrlIn(token_uri ?? 'https://oauth2.googleapis.com/token')
  if ('flaw' in url) return url
  return {
    value: {
      by: 'service_account',
      email,
      keyId: typeof keyId === 'string' && /^[!-~]{1,200}$/.test(keyId) ? keyId : null,
      privateKey,
      tokenUrl: url.value,
    },
  }
}

function tokenUrlIn(written: unknown): Reading<string> {
  const url = typeof written === 'string' ? URL.parse(written) : null
  const isGood =
    url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
  return isGood ? { value: url.href } : { flaw: 'has a token_uri that is no https URL' }
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as Record<string, unknown> | null) : null
  } catch {
    return null
  }
}

function isRsa(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

const accessKeyId = matching(/^\w{16,128}$/, 'must be the id of an access key, such as AKIAIOSFODNN7EXAMPLE')
const role = matching(
  /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/,
  'must be the ARN of a role, such as arn:aws:iam::123456789012:role/gatehouse',
)

// Unprinted, since a secret may have been written in place of the mapping.
const aws = mapping(
  {
    access_key_id: optional(placed(scalar(accessKeyId)), null),
    secret_access_key: optional(placed(scalar(visible, { unprinted: true })), null),
    session_token: optional(placed(scalar(visible, { unprinted: true })), null),
    role: optional(placed(scalar(role)), null),
    token_file: optional(placed(existingFile), null),
    sts: optional(placed(scalar(baseUrl('https://sts.us-east-1.amazonaws.com'))), null),
  },
  { unprinted: true },
)

const project = matching(
  /^[a-z0-9](?:[a-z0-9.:-]{0,61}[a-z0-9])$/,
  'must be the id of a project: lower-case letters, digits and hyphens',
)

/** A machine of the cloud has an identity, for which its metadata service makes keys. */
const machine = 'machine'

export const clouds = {
  entra: optional(placed(wordOr(machine, entra)), null),
  service_account: optional(placed(wordOr(machine, scalar(serviceAccount, { unprinted: true }))), null),
  project: optional(placed(scalar(project)), null),
  aws: optional(placed(wordOr(machine, aws)), null),
  regions: optional(placed(list(scalar(placeName), { min: 1 })), null),
  locations: optional(placed(list(scalar(placeName), { min: 1 })), null),
}

export type EntraSettings = Value<typeof entra>
export type AwsSettings = Value<typeof aws>
