// The certificates and challenges of ACME at this gateway (RFC 8555 section 8.3, RFC 8737).

import { createSecureContext, type SecureContext } from 'node:tls'
import type { TlsIdentity } from '../../config/model/config.ts'

export interface AutomaticTls {
  /** In the order of their hosts in the configuration. */
  readonly identities: readonly TlsIdentity[]
  readonly challenges: readonly HostChallenge[]
}

interface HostChallenge {
  readonly host: string
  readonly token: string
  readonly keyAuthorization: string
  /** The certificate that answers in a TLS handshake; null for HTTP. */
  readonly validation: TlsIdentity | null
}

export const nothingAutomatic: AutomaticTls = { identities: [], challenges: [] }

export class Challenges {
  readonly isEmpty: boolean
  readonly #byToken: ReadonlyMap<string, HostChallenge>
  readonly #contexts = new Map<string, SecureContext>()

  constructor(all: readonly HostChallenge[] = []) {
    this.isEmpty = all.length === 0
    const ofHttp = all.filter(({ validation }) => validation === null)
    this.#byToken = new Map(ofHttp.map(challenge => [challenge.token, challenge]))
    for (const { host, validation } of all)
      if (validation !== null)
        this.#contexts.set(host, createSecureContext({ cert: validation.certificate, key: validation.key }))
  }

  /** Null for a token that belongs to no order. */
  responseTo(host: string, token: string): string | null {
    const challenge = this.#byToken.get(token)
    return challenge?.host === host ? challenge.keyAuthorization : null
  }

  /** Null if no check is expected. */
  contextFor(host: string | null): SecureContext | null {
    return (host !== null && this.#contexts.get(host)) || null
  }
}
