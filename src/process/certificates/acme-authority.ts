// An ACME authority over the network. Requests are sent here: acme-client alone would retry without bounds.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Agent, IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestSecurely } from 'node:https'
import { Agent as HttpAgent, request as requestPlainly, whenFailed } from '../../net/http/node-http.ts'
import { retryAfterIn } from '../../http1/fields/retry-after.ts'
import {
  AcmeProblem,
  type Authority,
  type AuthorityAccount,
  type AuthorityAuthorization,
  type AuthorityChallenge,
  type AuthorityOrder,
  type RenewalInfo,
} from '../../certificates/acme/authority.ts'
import { newKey } from '../../certificates/acme/account.ts'
import type { AcmeConfig, TlsIdentity } from '../../config/model/config.ts'
import { version } from '../system/version.ts'
import type { AcmeClient, AcmeOrderView, AcmeRequest, AcmeResponse } from 'acme-client'

/** Timeout of a request with its response, in ms, and the maximum size of a response, in bytes. */
const timeout = 30_000
const maxBytes = 1024 * 1024

/** Loads the client and binds it to an account; no request is sent yet. */
export async function connectAuthority(config: AcmeConfig, account: AuthorityAccount): Promise<Authority> {
  const { axios, Client, crypto } = await import('acme-client')
  axios.defaults.adapter = request => senders.getStore()!.send(request)
  axios.defaults.acmeSettings.retryMaxAttempts = 0
  const sender = new Sender(config)
  const client = new Client({
    directoryUrl: config.directory,
    accountKey: account.key,
    ...(account.url !== null && { accountUrl: account.url }),
    ...(config.binding && {
      externalAccountBinding: { kid: config.binding.id, hmacKey: config.binding.key },
    }),
  })
  return new AcmeAuthority(config, client, sender, crypto)
}

const senders = new AsyncLocalStorage<Sender>()

class AcmeAuthority implements Authority {
  readonly #config: AcmeConfig
  readonly #client: AcmeClient
  readonly #sender: Sender
  readonly #crypto: typeof import('acme-client').crypto

  constructor(
    config: AcmeConfig,
    client: AcmeClient,
    sender: Sender,
    crypto: typeof import('acme-client').crypto,
  ) {
    this.#config = config
    this.#client = client
    this.#sender = sender
    this.#crypto = crypto
  }

  get pause(): number | null {
    return this.#sender.pause
  }

  register(): Promise<string> {
    return this.#run(async () => {
      const terms = await this.#client.getTermsOfServiceUrl()
      if (terms && !this.#config.termsAgreed)
        throw new AcmeProblem({
          type: null,
          detail: `the authority asks for agreement to its terms of service (${terms}): set tls.auto.terms_agreed`,
          status: 0,
        })
      const { email, termsAgreed } = this.#config
      await this.#client.createAccount({
        ...(terms && { termsOfServiceAgreed: termsAgreed }),
        ...(email !== null && { contact: [`mailto:${email}`] }),
      })
      return this.#client.getAccountUrl()
    })
  }

  async updateContact(email: string | null): Promise<void> {
    const contact = email === null ? [] : [`mailto:${email}`]
    await this.#run(() => this.#client.updateAccount({ contact }))
  }

  async order(host: string, replaces: string | null): Promise<AuthorityOrder> {
    const identifiers = [{ type: 'dns', value: host }]
    return this.#run(async () => {
      const directory = replaces === null ? null : await this.#renewalInfoUrl()
      return orderOf(
        await this.#client.createOrder({ identifiers, ...(directory && { replaces: replaces! }) }),
      )
    })
  }

  async poll(url: string): Promise<AuthorityOrder> {
    return this.#run(async () => orderOf(await this.#client.getOrder({ url })))
  }

  async authorizations({ authorizations }: AuthorityOrder): Promise<readonly AuthorityAuthorization[]> {
    return this.#run(async () => {
      const current = await this.#client.getAuthorizations({ authorizations })
      return current.map(({ status, challenges = [] }) => ({
        status,
        challenges: challenges.map(({ type, url, token = '', error }) => ({
          type,
          url,
          token,
          problem: error ? problemOf(error, 0) : null,
        })),
      }))
    })
  }

  keyAuthorization({ token, type }: AuthorityChallenge): Promise<string> {
    return this.#client.getChallengeKeyAuthorization({ token, type })
  }

  async validation(host: string, keyAuthorization: string): Promise<TlsIdentity> {
    const key = await newKey()
    const [, certificate] = await this.#crypto.createAlpnCertificate(
      { identifier: { value: host } },
      keyAuthorization,
      key,
    )
    return { certificate: certificate.toString(), key }
  }

  async respond({ url }: AuthorityChallenge): Promise<void> {
    await this.#run(() => this.#client.completeChallenge({ url }))
  }

  async finalize({ url, finalize }: AuthorityOrder, host: string, key: string): Promise<void> {
    const [, request] = await this.#crypto.createCsr({ altNames: [host] }, key)
    await this.#run(() => this.#client.finalizeOrder({ url, finalize }, request))
  }

  download({ certificate }: AuthorityOrder): Promise<string> {
    return this.#run(() => this.#client.getCertificate({ status: 'valid', certificate: certificate ?? '' }))
  }

  renewalInfo(certificateId: string): Promise<RenewalInfo | null> {
    return this.#run(async () => {
      const url = await this.#renewalInfoUrl()
      if (url === null) return null
      const { data } = await this.#sender.send({
        method: 'get',
        url: `${url.replace(/\/$/, '')}/${certificateId}`,
      })
      const { start, end } =
        (data as { suggestedWindow?: { start?: string; end?: string } }).suggestedWindow ?? {}
      const window = { start: Date.parse(start ?? ''), end: Date.parse(end ?? '') }
      if (!(window.start <= window.end))
        throw new AcmeProblem({
          type: null,
          detail: 'the renewal window of the authority cannot be read',
          status: 0,
        })
      return { window, retryAfter: this.#sender.pause }
    })
  }

  close(): void {
    this.#sender.close()
  }

  async #renewalInfoUrl(): Promise<string | null> {
    const { data } = await this.#sender.directory(this.#config.directory)
    const { renewalInfo } = data as { readonly renewalInfo?: unknown }
    return typeof renewalInfo === 'string' ? renewalInfo : null
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await senders.run(this.#sender, work)
    } catch (cause) {
      if (cause instanceof AcmeProblem) throw cause
      this.#sender.throwIfClosed()
      const { message } = cause as Error
      const detail =
        cause instanceof TypeError ? `the response of the authority cannot be read (${message})` : message
      throw new AcmeProblem({ type: null, detail, status: 0 })
    }
  }
}

class Sender {
  /** How many ms the last response asked to wait; null if it did not. */
  pause: number | null = null
  readonly #agents: { readonly http: Agent; readonly https: HttpsAgent }
  readonly #end = new AbortController()
  /** Whether all URLs must use TLS, as the directory does (RFC 8555 section 6.1). */
  readonly #isSecure: boolean
  #directory: Promise<AcmeResponse> | null = null

  constructor({ ca, directory }: Pick<AcmeConfig, 'ca' | 'directory'>) {
    this.#isSecure = directory.startsWith('https:')
    const means = { keepAlive: true, proxyEnv: process.env }
    this.#agents = {
      http: new HttpAgent(means),
      https: new HttpsAgent({ ...means, ...(ca !== null && { ca }) }),
    }
  }

  /** Rejects with the problem document, except after a stale nonce (RFC 8555 section 6.5). */
  async send({ method, url, data }: AcmeRequest): Promise<AcmeResponse> {
    this.throwIfClosed()
    if (this.#isSecure && !url.startsWith('https:'))
      throw new AcmeProblem({
        type: null,
        detail: `the authority is reached over https, and refers to ${url}`,
        status: 0,
      })
    const response = await this.#exchange(method, url, data)
    const { status, body, fields, type } = response
    this.pause = retryAfterIn(fields, Date.now())
    const isJson = type.includes('json')
    const content = isJson && body !== '' ? jsonOf(body) : body
    // Redirects are not followed.
    if (status >= 300) {
      const problem = problemOf(content, status, this.pause)
      if (problem.type !== 'badNonce') throw problem
    }
    return { status, data: content, headers: response.headers }
  }

  directory(url: string): Promise<AcmeResponse> {
    this.#directory ??= this.send({ method: 'get', url }).catch(problem => {
      this.#directory = null
      throw problem
    })
    return this.#directory
  }

  throwIfClosed(): void {
    this.#end.signal.throwIfAborted()
  }

  close(): void {
    this.#end.abort()
    this.#agents.http.destroy()
    this.#agents.https.destroy()
  }

  async #exchange(method: string, url: string, data: unknown): Promise<Received> {
    const isSecure = url.startsWith('https:')
    const body = data === undefined ? null : typeof data === 'string' ? data : JSON.stringify(data)
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(timeout)])
    try {
      return await new Promise<Received>((resolve, reject) => {
        const options = {
          method: method.toUpperCase(),
          agent: isSecure ? this.#agents.https : this.#agents.http,
          signal,
          headers: {
            'User-Agent': `gatehouse/${version} (acme-client)`,
            'Accept-Language': 'en',
            ...(body !== null && {
              'Content-Type': 'application/jose+json',
              'Content-Length': Buffer.byteLength(body),
            }),
          },
        }
        const sent = (isSecure ? requestSecurely : requestPlainly)(url, options, response => {
          receive(response).then(resolve, reject)
        })
        whenFailed(sent, reject)
        sent.end(body)
      })
    } catch (cause) {
      this.throwIfClosed()
      if (cause instanceof AcmeProblem) throw cause
      const { code, message } = cause as NodeJS.ErrnoException
      const why = signal.aborted ? `no response within ${timeout / 1000} s` : (code ?? message)
      throw new AcmeProblem({ type: null, detail: `${new URL(url).host} unreachable (${why})`, status: null })
    }
  }
}

interface Received {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly fields: readonly string[]
  readonly headers: Readonly<Record<string, string>>
}

async function receive(response: IncomingMessage): Promise<Received> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    length += part.length
    if (length > maxBytes)
      throw new AcmeProblem({
        type: null,
        detail: 'the response of the authority is longer than 1 MiB',
        status: 0,
      })
    parts.push(part)
  }
  const { headers } = response
  const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return {
    status: response.statusCode!,
    type: headers['content-type'] ?? '',
    body: Buffer.concat(parts).toString(),
    fields: response.rawHeaders,
    headers: flat,
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AcmeProblem({ type: null, detail: 'the response of the authority is no JSON', status: 0 })
  }
}

const urn = 'urn:ietf:params:acme:error:'

function problemOf(content: unknown, status: number, retryAfter: number | null = null): AcmeProblem {
  const { type, detail, subproblems } = (content ?? {}) as {
    readonly type?: unknown
    readonly detail?: unknown
    readonly subproblems?: readonly { readonly detail?: unknown }[]
  }
  const isKnown = typeof type === 'string' && type.startsWith(urn)
  const details = [detail, ...(Array.isArray(subproblems) ? subproblems.map(({ detail }) => detail) : [])]
  const text = details.filter(one => typeof one === 'string' && one !== '').join('; ')
  return new AcmeProblem({
    type: isKnown ? type.slice(urn.length) : null,
    detail: text || `the authority responded with ${status}`,
    status,
    retryAfter,
  })
}

function orderOf({
  url,
  status,
  authorizations,
  finalize,
  certificate,
  error,
}: AcmeOrderView): AuthorityOrder {
  return {
    url,
    status,
    authorizations,
    finalize,
    certificate: certificate ?? null,
    problem: error ? problemOf(error, 0) : null,
  }
}
