// Keys for AWS: credentials of a role, and the signatures that are made with them (Signature Version 4).

import { readFile } from 'node:fs/promises'
import type { Clock } from '../../base/clock.ts'
import type { CloudIdentity } from '../../config/model/cloud-config.ts'
import type { SignedRequest } from '../../ai/providers/key-ring.ts'
import {
  type KeyCall,
  KeyFailure,
  type KeyResponse,
  membersOf,
  type SendKeyCall,
  skewOf,
} from './key-call.ts'
import type { Minted } from './made-key.ts'
import { form, formType } from './oauth.ts'
import { tokenFile } from './token-file.ts'

type AwsIdentity = Extract<CloudIdentity, { by: 'aws_keys' | 'aws_role' | 'aws_machine' }>

interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
  /** Ms. */
  readonly lifetime: number
}

/** `skew` is by how many ms AWS is known to be ahead of this machine. */
export async function awsKey(
  identity: AwsIdentity,
  send: SendKeyCall,
  { clock, skew }: { readonly clock: Clock; readonly skew: () => number },
): Promise<Minted> {
  const { accessKeyId, secretAccessKey, sessionToken, lifetime } = await credentialsOf(
    identity,
    send,
    clock.now(),
  )
  const { sign } = (await import('aws4')).default
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken !== null && { sessionToken }) }
  const signer = ({ method, host, path, region, body }: SignedRequest) => {
    const at = new Date(clock.now() + skew()).toISOString().replace(/[:-]|\.\d{3}/g, '')
    const headers = { host, 'x-amz-date': at }
    // What comes with the body is not signed, as it may be written in another way on its way.
    const extraHeadersToIgnore = { 'content-type': true, 'content-length': true }
    const request = { method, host, path, service: 'bedrock', region, headers, extraHeadersToIgnore }
    const signed = sign({ ...request, ...(body !== null && { body }) }, credentials).headers!
    const token = sessionToken === null ? '' : `X-Amz-Security-Token: ${sessionToken}\r\n`
    return `X-Amz-Date: ${at}\r\n${token}Authorization: ${signed.Authorization}\r\n`
  }
  return { value: '', lifetime, sign: signer }
}

async function credentialsOf(identity: AwsIdentity, send: SendKeyCall, now: number): Promise<Credentials> {
  if (identity.by === 'aws_keys') return { ...identity, lifetime: Number.POSITIVE_INFINITY }
  if (identity.by === 'aws_role') return roleCredentials(identity, send, now)
  const { AWS_ROLE_ARN: roleArn, AWS_WEB_IDENTITY_TOKEN_FILE: file } = process.env
  const { region } = identity
  if (roleArn && file) return roleCredentials({ roleArn, file, url: null, region }, send, now)
  return (await containerCredentials(send, now)) ?? instanceCredentials(send, now)
}

interface Role {
  readonly roleArn: string
  readonly file: string
  readonly url: string | null
  readonly region: string
}

/** Of a role that a workload may assume by its token. */
async function roleCredentials({ roleArn, file, url, region }: Role, send: SendKeyCall, now: number) {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const body = {
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: 'gatehouse',
    WebIdentityToken: await tokenFile(file),
  }
  const response = await send({
    url: url ?? `https://sts.${region}.${domain}/`,
    method: 'POST',
    headers: { ...formType, accept: 'application/json' },
    body: form(body),
  })
  const { AssumeRoleWithWebIdentityResponse: outer } = membersOf(response)
  const { AssumeRoleWithWebIdentityResult: result } = (outer ?? {}) as Record<string, unknown>
  const { Credentials: credentials } = (result ?? {}) as Record<string, unknown>
  return credentialsIn(response, credentials, now)
}

/** Of ECS tasks and EKS pods; null elsewhere. */
async function containerCredentials(send: SendKeyCall, now: number): Promise<Credentials | null> {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } =
    process.env
  if (!relative && !full) return null
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN: token, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file } =
    process.env
  const authorization = file ? (await readToken(file)).trim() : token
  const url = relative ? `http://169.254.170.2${relative}` : full!
  const response = await send({ url, ...(authorization && { headers: { authorization } }) }, 'direct')
  return credentialsIn(response, membersOf(response), now)
}

function readToken(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(({ code }) => {
    throw new KeyFailure(`AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE cannot be read (${code})`)
  })
}

/** Of an EC2 instance, by the second version of its metadata service. */
async function instanceCredentials(send: SendKeyCall, now: number): Promise<Credentials> {
  const base = process.env.AWS_EC2_METADATA_SERVICE_ENDPOINT?.replace(/\/$/, '') || 'http://169.254.169.254'
  const ask = async (call: KeyCall) => {
    const response = await send(call, 'direct')
    if (response.status !== 200) throw new KeyFailure(`${response.host} responded ${response.status}`)
    return response
  }
  const session = { 'x-aws-ec2-metadata-token-ttl-seconds': '300' }
  const { text: token } = await ask({ url: `${base}/latest/api/token`, method: 'PUT', headers: session })
  const headers = { 'x-aws-ec2-metadata-token': token.trim() }
  const roles = `${base}/latest/meta-data/iam/security-credentials/`
  const [role = ''] = (await ask({ url: roles, headers })).text.trim().split('\n')
  const response = await ask({ url: roles + encodeURIComponent(role), headers })
  return credentialsIn(response, membersOf(response), now)
}

function credentialsIn(response: KeyResponse, credentials: unknown, now: number): Credentials {
  const { AccessKeyId, SecretAccessKey, SessionToken, Token, Expiration } = (credentials ?? {}) as Record<
    string,
    unknown
  >
  const { host } = response
  const texts = [AccessKeyId, SecretAccessKey, SessionToken ?? Token]
  if (!texts.every(isVisible)) throw new KeyFailure(`${host} responded without credentials`)
  const [accessKeyId, secretAccessKey, sessionToken] = texts as [string, string, string]
  // By STS in seconds, elsewhere as a date.
  const end = typeof Expiration === 'number' ? Expiration * 1000 : Date.parse(String(Expiration))
  const lifetime = end - (now + skewOf(response, now))
  if (!(lifetime > 0)) throw new KeyFailure(`${host} responded with expired credentials`)
  return { accessKeyId, secretAccessKey, sessionToken, lifetime }
}

function isVisible(value: unknown): boolean {
  return typeof value === 'string' && /^[!-~]{1,16384}$/.test(value)
}
