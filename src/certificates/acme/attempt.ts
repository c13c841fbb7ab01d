// Obtains one certificate, with each step stored, so that another process can continue from there.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Clock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { AcmeConfig } from '../../config/model/config.ts'
import type { AcmeChallenge, IssuedCertificate } from '../../store/records/acme.ts'
import { Certificate } from '../../tls/certificate.ts'
import { newKey } from './account.ts'
import { AcmeProblem, type Authority, type AuthorityChallenge, type AuthorityOrder } from './authority.ts'
import { certificateId } from './certificate-id.ts'
import type { Lease } from './lease.ts'

interface AttemptParts {
  readonly authority: Authority
  readonly config: AcmeConfig
  readonly secrets: SecretKeys
  readonly clock: Clock
  /** Resolves when every process and machine responds to the stored challenges. */
  readonly published: () => Promise<void>
  /** Rejects with an AbortError once the gateway stops. */
  readonly sleep: (ms: number) => Promise<void>
}

/** Ms; the second in all. */
const firstPoll = 500
const maxPoll = 10_000
const timeout = 5 * 60_000
const minPart = 1 / 10
/** Ms after which an order is not continued. */
const maxAge = 24 * 3_600_000
/** Ms that the clock of an authority may be ahead. */
const skew = 3_600_000

/** Continues a current order; rejects with `AcmeProblem`, `LeaseLost` or an error of the store. */
export async function obtain(lease: Lease, parts: AttemptParts): Promise<IssuedCertificate> {
  const { secrets, clock, config } = parts
  const { order, key } = (await resumed(lease, parts)) ?? (await begun(lease, parts))
  const ready = await settled(await proven(lease, order, parts), parts)
  if (ready.status === 'ready') await parts.authority.finalize(ready, lease.record.id, key)
  const valid = await settled(await parts.authority.poll(ready.url), parts, 'valid')
  const chain = await parts.authority.download(valid)
  checkPair(chain, key, lease.record.id, clock.now())
  const sealedKey = secrets.seal(key, keyContext(lease.record.id))
  return { directory: config.directory, chain, sealedKey, issuedAt: clock.now() }
}

export function keyContext(host: string): string {
  return `certificate of ${host}`
}

interface Begun {
  readonly order: AuthorityOrder
  readonly key: string
}

async function resumed(lease: Lease, parts: AttemptParts): Promise<Begun | null> {
  const { authority, config, secrets, clock } = parts
  const { order, id } = lease.record
  if (order === null || order.directory !== config.directory) return null
  // Its certificate may have expired by now, or be about to.
  if (clock.now() - order.startedAt > maxAge) return null
  const key = secrets.unseal(order.sealedKey, keyContext(id))
  if (key === null) return null
  try {
    const current = await authority.poll(order.url)
    return current.status === 'invalid' ? null : { order: current, key }
  } catch (problem) {
    // It no longer exists, or belongs to another account.
    if (problem instanceof AcmeProblem && !problem.isOutage && !problem.isRateLimit) return null
    throw problem
  }
}

async function begun(lease: Lease, { authority, config, secrets, clock }: AttemptParts): Promise<Begun> {
  const { id, issued } = lease.record
  const key = await newKey()
  const replaces = issued?.directory === config.directory ? certificateId(issued.chain) : null
  const order = await ordered(authority, id, replaces)
  await lease.write({
    order: {
      directory: config.directory,
      url: order.url,
      sealedKey: secrets.seal(key, keyContext(id)),
      startedAt: clock.now(),
      challenge: null,
    },
  })
  return { order, key }
}

/** Names the replaced certificate, unless the authority does not support that (RFC 9773 section 5). */
async function ordered(authority: Authority, host: string, replaces: string | null): Promise<AuthorityOrder> {
  try {
    return await authority.order(host, replaces)
  } catch (problem) {
    const isRefused =
      problem instanceof AcmeProblem && ['alreadyReplaced', 'malformed'].includes(problem.type ?? '')
    if (replaces === null || !isRefused) throw problem
    return authority.order(host, null)
  }
}

async function proven(lease: Lease, order: AuthorityOrder, parts: AttemptParts): Promise<AuthorityOrder> {
  if (order.status !== 'pending') return order
  for (const { status, challenges } of await parts.authority.authorizations(order)) {
    if (status === 'valid') continue
    const challenge = chosen(challenges, lease, parts.config)
    await lease.write({
      order: { ...lease.record.order!, challenge: await shownFor(lease.record.id, challenge, parts) },
    })
    await parts.published()
    await parts.authority.respond(challenge)
  }
  return parts.authority.poll(order.url)
}

/** The first configured challenge that the authority offers, and after a failure the next one. */
function chosen(
  offered: readonly AuthorityChallenge[],
  { record }: Lease,
  { challenges }: AcmeConfig,
): AuthorityChallenge {
  const possible = challenges.flatMap(type => offered.find(challenge => challenge.type === type) ?? [])
  const challenge = possible[record.failures % possible.length]
  if (challenge !== undefined) return challenge
  const types = offered.map(({ type }) => type).join(', ')
  throw refusal(
    `the authority offers ${types || 'no challenge'} only, and tls.auto has ${challenges.join(', ')}`,
  )
}

async function shownFor(
  host: string,
  challenge: AuthorityChallenge,
  { authority }: AttemptParts,
): Promise<AcmeChallenge> {
  const { token } = challenge
  // The token becomes a path here, and a text that anyone can read (RFC 8555 section 8.3).
  if (!/^[\w-]+$/.test(token)) throw refusal('the authority sent a token that is not base64url')
  const keyAuthorization = await authority.keyAuthorization(challenge)
  const isTls = challenge.type === 'tls-alpn-01'
  const validation = isTls ? await authority.validation(host, keyAuthorization) : null
  return { type: isTls ? 'tls-alpn-01' : 'http-01', token, keyAuthorization, validation }
}

async function settled(
  order: AuthorityOrder,
  parts: AttemptParts,
  wanted: 'ready' | 'valid' = 'ready',
): Promise<AuthorityOrder> {
  const { authority, clock, sleep } = parts
  const deadline = clock.monotonic() + timeout
  let current = order
  for (let pause = firstPoll; ; pause = Math.min(2 * pause, maxPoll)) {
    if (current.status === 'invalid') throw await failureOf(current, authority)
    if (current.status === 'valid' || current.status === wanted) return current
    if (clock.monotonic() > deadline)
      throw new AcmeProblem({
        type: null,
        detail: `the order is ${current.status} for more than 5 minutes`,
        status: null,
      })
    await sleep(Math.min(Math.max(authority.pause ?? pause, pause * minPart), maxPoll))
    current = await authority.poll(current.url)
  }
}

async function failureOf(order: AuthorityOrder, authority: Authority): Promise<AcmeProblem> {
  const authorizations = await authority.authorizations(order)
  const invalid = authorizations.find(({ status }) => status === 'invalid')
  const problem = invalid?.challenges.find(({ problem }) => problem !== null)?.problem ?? order.problem
  return problem ?? refusal('the authority gave the order up without a reason')
}

function checkPair(chain: string, key: string, host: string, now: number): void {
  const flaw = flawOf(chain, key, host, now)
  if (flaw !== null) throw refusal(`the certificate of the authority ${flaw}`)
}

function flawOf(chain: string, key: string, host: string, now: number): string | null {
  try {
    const certificate = new Certificate(chain)
    if (!certificate.covers(host)) return 'is for other hosts'
    if (certificate.notAfter <= now) return 'has expired'
    if (certificate.notBefore > now + skew) return 'is not valid yet'
    if (!new X509Certificate(chain).checkPrivateKey(createPrivateKey(key))) return 'is for another key'
    createSecureContext({ cert: chain, key })
    return null
  } catch (cause) {
    return `cannot be used (${(cause as Error).message})`
  }
}

/** A problem that the authority itself does not report. */
function refusal(detail: string): AcmeProblem {
  return new AcmeProblem({ type: null, detail, status: 0 })
}
