// A certificate authority that speaks ACME (RFC 8555, 8737, 9773), small and strict: what a client does wrong is an error, and is remembered as a fault of the client. It
// validates hosts by connecting to them, as real ones do.

import { createHash, createHmac, createPublicKey, randomBytes, verify, X509Certificate } from 'node:crypto'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { connect } from 'node:tls'
import { promisify } from 'node:util'

const run = promisify(execFile)
const openssl = process.env.OPENSSL ?? 'openssl'

interface Account {
  readonly jwk: Readonly<Record<string, string>>
  readonly thumbprint: string
  contact: readonly string[]
  readonly boundTo: string | null
}

interface Challenge {
  readonly id: string
  readonly type: 'http-01' | 'tls-alpn-01'
  readonly token: string
  status: 'pending' | 'processing' | 'valid' | 'invalid'
  error?: object
}

export interface ServedOrder {
  readonly id: string
  readonly account: string
  readonly host: string
  readonly replaces: string | null
  readonly challenges: readonly Challenge[]
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
  /** The type of the challenge that was met. */
  provenBy: string | null
  chain: string | null
}

interface Settings {
  /** The challenges on offer. */
  readonly offers?: readonly Challenge['type'][]
  /** Key ids of external accounts with their MAC keys, base64url; an account must be bound to one where there are any. */
  readonly external?: Readonly<Record<string, string>>
  readonly terms?: boolean
  /** Whether it has renewalInfo. */
  readonly ari?: boolean
}

interface Problem {
  readonly status: number
  readonly type: string
  readonly detail: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Reply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

class Refused extends Error {
  readonly problem: Problem

  constructor(status: number, type: string, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail)
    this.problem = { status, type, detail, headers }
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64url')

export class AcmeServer {
  readonly orders: ServedOrder[] = []
  readonly accounts = new Map<string, Account>()
  /** What clients did that a client must not do. */
  readonly faults: string[] = []
  /** Every request, such as `POST /order`. */
  readonly requests: string[] = []
  /** Where a host is reached for a validation. */
  ports: { http: number; tls: number } = { http: 0, tls: 0 }
  /** Refuses the next requests to a path with these, one each. */
  readonly refusals: { readonly path: string; readonly problem: Problem }[] = []
  /** Called before a validation looks. */
  beforeValidation: (order: ServedOrder) => unknown = () => {}
  /** Called when a certificate is asked for. */
  beforeIssue: (order: ServedOrder) => unknown = () => {}
  /** Turns a response into one of an authority that is broken or hostile. */
  tamper: (path: string, response: Reply) => Reply = (_, response) => response
  /** The suggested window of a certificate, ms since the epoch; by its id. */
  windows = new Map<string, readonly [number, number]>()
  /** Days that certificates last from now on. */
  days = 90
  /** Seconds. */
  renewalRetryAfter = 21_600
  readonly folder = mkdtempSync(join(tmpdir(), 'gatehouse-acme-'))
  readonly #settings: Required<Settings>
  readonly #server: Server
  readonly #nonces = new Set<string>()
  readonly #certificateIds = new Map<string, ServedOrder>()
  #count = 0
  #url = ''

  static async start(t: TestContext, settings: Settings = {}): Promise<AcmeServer> {
    const server = new AcmeServer(settings)
    t.after(() => server.close())
    await server.#open()
    return server
  }

  private constructor({
    offers = ['http-01', 'tls-alpn-01'],
    external = {},
    terms = true,
    ari = true,
  }: Settings) {
    this.#settings = { offers, external, terms, ari }
    this.#server = createServer((request, response) => void this.#serve(request, response))
  }

  get directory(): string {
    return `${this.#url}/directory`
  }

  /** The certificate of the authority, PEM. */
  get ca(): string {
    return readFileSync(join(this.folder, 'ca.pem'), 'utf8')
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #open(): Promise<void> {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'ca.key']
    await this.#openssl(
      'req',
      '-x509',
      ...key,
      '-out',
      'ca.pem',
      '-subj',
      '/CN=Loopback authority',
      '-days',
      '400',
    )
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #openssl(...args: string[]) {
    return run(openssl, args, { cwd: this.folder })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?')
    this.requests.push(`${request.method} ${path}`)
    const send: Send = (...[status, body, headers = {}]) => {
      const sent = this.tamper(path, { status, body, headers })
      const text = typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body)
      response.writeHead(sent.status, {
        'Content-Type': 'application/json',
        'Cache-Control': 'no-store',
        Link: `<${this.directory}>;rel="index"`,
        ...(request.method !== 'GET' && { 'Replay-Nonce': this.#nonce() }),
        ...sent.headers,
      })
      response.end(request.method === 'HEAD' ? '' : text)
    }
    try {
      if (!request.headers['user-agent']?.startsWith('gatehouse/')) this.#fault(`no User-Agent at ${path}`)
      const at = this.refusals.findIndex(refusal => path.startsWith(refusal.path))
      if (at >= 0) {
        const [{ problem }] = this.refusals.splice(at, 1) as [(typeof this.refusals)[0]]
        throw new Refused(problem.status, problem.type, problem.detail, problem.headers)
      }
      if (path === '/directory') return send(200, this.#directoryBody())
      if (path === '/nonce') return send(request.method === 'HEAD' ? 200 : 204, '')
      if (path.startsWith('/renewal-info/') && request.method === 'GET')
        return this.#renewalInfo(path.slice(14), send)
      if (request.method !== 'POST') throw new Refused(405, 'malformed', 'only POST here')
      await this.#post(path, await bodyOf(request), request.headers['content-type'] ?? '', send)
    } catch (error) {
      if (!(error instanceof Refused)) {
        this.#fault(`bug: ${(error as Error).stack}`)
        return send(500, {})
      }
      const { status, type, detail, headers } = error.problem
      const body = { type: `urn:ietf:params:acme:error:${type}`, detail, status }
      send(status, body, { 'Content-Type': 'application/problem+json', ...headers })
    }
  }

  #directoryBody() {
    const at = (name: string) => `${this.#url}/${name}`
    const { terms, external, ari } = this.#settings
    return {
      newNonce: at('nonce'),
      newAccount: at('account'),
      newOrder: at('order'),
      revokeCert: at('revoke'),
      keyChange: at('key-change'),
      ...(ari && { renewalInfo: at('renewal-info') }),
      meta: {
        ...(terms && { termsOfService: at('terms') }),
        externalAccountRequired: Object.keys(external).length > 0,
      },
    }
  }

  #fault(what: string): void {
    this.faults.push(what)
  }

  #nonce(): string {
    const nonce = randomBytes(12).toString('base64url')
    this.#nonces.add(nonce)
    return nonce
  }

  /** Checks what every request must have (RFC 8555 section 6). */
  #unwrap(path: string, body: string, type: string) {
    const refuse = (detail: string, error = 'malformed', status = 400): never => {
      if (error !== 'badNonce') this.#fault(`${path}: ${detail}`)
      throw new Refused(status, error, detail)
    }
    if (type !== 'application/jose+json') refuse(`content type ${type}`, 'malformed', 415)
    const jws = JSON.parse(body) as Record<string, string>
    if (Object.keys(jws).sort().join() !== 'payload,protected,signature') refuse('not a flattened JWS')
    const head = JSON.parse(Buffer.from(jws.protected!, 'base64url').toString())
    if (head.url !== `${this.#url}${path}`) refuse(`url ${head.url}`, 'unauthorized', 401)
    if (head.alg !== 'ES256') refuse(`algorithm ${head.alg}`, 'badSignatureAlgorithm')
    if ('jwk' in head === 'kid' in head) refuse('jwk and kid, or neither')
    if ('jwk' in head !== (path === '/account')) refuse(`${'jwk' in head ? 'jwk' : 'kid'} at ${path}`)
    const account = 'kid' in head ? this.accounts.get(head.kid) : null
    if (account === undefined) throw new Refused(400, 'accountDoesNotExist', `no account ${head.kid}`)
    const jwk = account === null ? head.jwk : account.jwk
    const signed = Buffer.from(`${jws.protected}.${jws.payload}`)
    const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const
    if (!verify('sha256', signed, key, Buffer.from(jws.signature!, 'base64url')))
      refuse('signature', 'malformed', 401)
    if (!this.#nonces.delete(head.nonce)) refuse('used or unknown nonce', 'badNonce')
    const payload = jws.payload === '' ? null : JSON.parse(Buffer.from(jws.payload!, 'base64url').toString())
    return { jwk, kid: head.kid as string, payload, refuse }
  }

  async #post(path: string, body: string, type: string, send: Send): Promise<void> {
    const { jwk, kid, payload, refuse } = this.#unwrap(path, body, type)
    const [, kind, id = '', more = ''] = path.split('/')
    if (path === '/account') return this.#newAccount(jwk, payload, send)
    if (kind === 'account') {
      if (kid !== `${this.#url}${path}`) refuse('account of another', 'unauthorized', 401)
      const account = this.accounts.get(kid)!
      if (payload?.contact) account.contact = payload.contact
      return send(200, { status: 'valid', contact: account.contact })
    }
    if (path === '/order') return this.#newOrder(kid, payload, send)
    const order = this.orders.find(one => one.id === id)
    if (order === undefined) throw new Refused(404, 'malformed', `no order ${id}`)
    if (order.account !== kid) refuse('order of another account', 'unauthorized', 403)
    if (kind === 'order')
      return payload === null ? send(200, this.#viewOf(order), this.#pause(order)) : refuse('payload')
    if (kind === 'authorization')
      return payload === null ? send(200, this.#authorizationOf(order)) : refuse('payload')
    if (kind === 'challenge') return this.#respond(order, more, payload, send)
    if (kind === 'finalize') return this.#finalize(order, payload, jwk, send)
    if (kind === 'certificate' && order.chain !== null)
      return send(200, order.chain, { 'Content-Type': 'application/pem-certificate-chain' })
    throw new Refused(404, 'malformed', `nothing at ${path}`)
  }

  #newAccount(jwk: Account['jwk'], payload: Record<string, unknown>, send: Send): void {
    const { kty, crv, x, y } = jwk
    const thumbprint = digest(JSON.stringify({ crv, kty, x, y }))
    const known = [...this.accounts].find(([, account]) => account.thumbprint === thumbprint)
    if (known) return send(200, { status: 'valid', contact: known[1].contact }, { Location: known[0] })
    if (this.#settings.terms && payload.termsOfServiceAgreed !== true)
      throw new Refused(403, 'userActionRequired', 'terms of service must be agreed to')
    const boundTo = this.#binding(jwk, payload.externalAccountBinding as Record<string, string> | undefined)
    const url = `${this.#url}/account/${++this.#count}`
    const contact = (payload.contact ?? []) as readonly string[]
    this.accounts.set(url, { jwk, thumbprint, contact, boundTo })
    send(201, { status: 'valid', contact }, { Location: url })
  }

  /** Checks an external account binding (RFC 8555 section 7.3.4). */
  #binding(jwk: Account['jwk'], binding: Record<string, string> | undefined): string | null {
    const { external } = this.#settings
    if (Object.keys(external).length === 0) return null
    if (binding === undefined)
      throw new Refused(403, 'externalAccountRequired', 'an external account is required')
    const head = JSON.parse(Buffer.from(binding.protected!, 'base64url').toString())
    const inner = JSON.parse(Buffer.from(binding.payload!, 'base64url').toString())
    const key = external[head.kid]
    const signed = `${binding.protected}.${binding.payload}`
    const isSigned =
      key !== undefined &&
      createHmac('sha256', Buffer.from(key, 'base64url')).update(signed).digest('base64url') ===
        binding.signature
    const isOurs = ['kty', 'crv', 'x', 'y'].every(name => inner[name] === jwk[name])
    if (
      head.alg !== 'HS256' ||
      head.url !== `${this.#url}/account` ||
      'nonce' in head ||
      !isSigned ||
      !isOurs
    )
      throw new Refused(403, 'unauthorized', 'the external account binding is not good')
    return head.kid
  }

  #newOrder(account: string, payload: Record<string, unknown>, send: Send): void {
    const [identifier, ...others] = payload.identifiers as readonly { type: string; value: string }[]
    if (identifier === undefined || others.length > 0 || identifier.type !== 'dns')
      throw new Refused(400, 'unsupportedIdentifier', 'one dns identifier is expected')
    const host = identifier.value
    if (host !== host.toLowerCase()) this.#fault(`host ${host}`)
    if (host.endsWith('.refused.test'))
      throw new Refused(400, 'rejectedIdentifier', `policy forbids issuing for "${host}"`)
    const replaces = (payload.replaces ?? null) as string | null
    if (replaces !== null) {
      const before = this.#certificateIds.get(replaces)
      if (before === undefined || before.host !== host || !this.#settings.ari)
        this.#fault(`replaces ${replaces}`)
      if (this.orders.some(order => order.replaces === replaces && order.status !== 'invalid'))
        throw new Refused(409, 'alreadyReplaced', 'it is replaced already')
    }
    const challenges = this.#settings.offers.map((type, i): Challenge => {
      return { id: String(i), type, token: randomBytes(24).toString('base64url'), status: 'pending' }
    })
    const order: ServedOrder = {
      ...{ id: String(++this.#count), account, host, replaces, challenges },
      ...{ status: 'pending', provenBy: null, chain: null },
    }
    this.orders.push(order)
    send(201, this.#viewOf(order), { Location: `${this.#url}/order/${order.id}` })
  }

  #pause({ status }: ServedOrder): Record<string, string> {
    return status === 'processing' || status === 'pending' ? { 'Retry-After': '0.05' } : {}
  }

  #viewOf({ id, host, status, replaces, chain }: ServedOrder) {
    return {
      status,
      identifiers: [{ type: 'dns', value: host }],
      authorizations: [`${this.#url}/authorization/${id}`],
      finalize: `${this.#url}/finalize/${id}`,
      ...(replaces !== null && { replaces }),
      ...(chain !== null && { certificate: `${this.#url}/certificate/${id}` }),
    }
  }

  #authorizationOf({ id, host, challenges }: ServedOrder) {
    const states = challenges.map(({ status }) => status)
    const status = states.includes('valid') ? 'valid' : states.includes('invalid') ? 'invalid' : 'pending'
    const views = challenges.map(challenge => ({
      ...challenge,
      url: `${this.#url}/challenge/${id}/${challenge.id}`,
    }))
    return { status, identifier: { type: 'dns', value: host }, challenges: views }
  }

  #respond(order: ServedOrder, id: string, payload: unknown, send: Send): void {
    const challenge = order.challenges.find(one => one.id === id)
    if (challenge === undefined) throw new Refused(404, 'malformed', 'no such challenge')
    if (JSON.stringify(payload) !== '{}') this.#fault('a response to a challenge is an empty object')
    if (challenge.status === 'pending' && order.status === 'pending') {
      challenge.status = 'processing'
      void this.#validate(order, challenge)
    }
    send(200, { ...challenge, url: `${this.#url}/challenge/${order.id}/${id}` })
  }

  async #validate(order: ServedOrder, challenge: Challenge): Promise<void> {
    await this.beforeValidation(order)
    const keyAuthorization = `${challenge.token}.${this.accounts.get(order.account)!.thumbprint}`
    const check = challenge.type === 'http-01' ? validateOverHttp : validateInTls
    const fault = await check(order.host, challenge.token, keyAuthorization, this.ports).catch(
      (error: Error) => error.message,
    )
    challenge.status = fault === null ? 'valid' : 'invalid'
    if (fault !== null) {
      const type = 'urn:ietf:params:acme:error:unauthorized'
      challenge.error = { type, status: 403, detail: `127.0.0.1: ${order.host}: ${fault}` }
    } else order.provenBy = challenge.type
    order.status = fault === null ? 'ready' : 'invalid'
  }

  async #finalize(
    order: ServedOrder,
    payload: Record<string, string>,
    accountKey: object,
    send: Send,
  ): Promise<void> {
    if (order.status !== 'ready') throw new Refused(403, 'orderNotReady', `the order is ${order.status}`)
    const file = (name: string) => join(this.folder, `${order.id}.${name}`)
    writeFileSync(file('der'), Buffer.from(payload.csr!, 'base64url'))
    const { stdout } = await this.#openssl(
      'req',
      '-inform',
      'DER',
      '-in',
      file('der'),
      '-verify',
      '-noout',
      '-text',
      '-pubkey',
    )
    const names = [...stdout.matchAll(/DNS:([^,\s]+)/g)].map(([, name]) => name)
    if (names.join() !== order.host) throw new Refused(400, 'badCSR', `the CSR is for ${names}`)
    const key = createPublicKey(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/.exec(stdout)![0])
    const jwk = key.export({ format: 'jwk' })
    if (jwk.x === (accountKey as { x: string }).x)
      throw new Refused(400, 'badPublicKey', 'the account key must not be certified')
    order.status = 'processing'
    send(200, this.#viewOf(order), this.#pause(order))
    // Nobody waits for it any more where the test is over.
    await this.#issue(order, file).catch(error => this.#fault(`issue: ${error}`))
  }

  async #issue(order: ServedOrder, file: (name: string) => string): Promise<void> {
    await this.beforeIssue(order)
    await this.#openssl('req', '-inform', 'DER', '-in', file('der'), '-out', file('csr'))
    writeFileSync(
      file('ext'),
      `subjectAltName=DNS:${order.host}\nauthorityKeyIdentifier=keyid:always\nextendedKeyUsage=serverAuth\nbasicConstraints=critical,CA:FALSE\n`,
    )
    const serial = `0x${randomBytes(9).toString('hex')}`
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-set_serial', serial, '-extfile', file('ext')]
    await this.#openssl(
      'x509',
      '-req',
      '-in',
      file('csr'),
      ...by,
      '-days',
      String(this.days),
      '-out',
      file('pem'),
    )
    const leaf = readFileSync(file('pem'), 'utf8')
    this.#certificateIds.set(await this.#idOf(file('pem')), order)
    order.chain = leaf + this.ca
    order.status = 'valid'
  }

  /** Reads the id from what openssl prints, so that it owes nothing to the code under test. */
  async #idOf(file: string): Promise<string> {
    const { stdout } = await this.#openssl(
      'x509',
      '-in',
      file,
      '-noout',
      '-serial',
      '-ext',
      'authorityKeyIdentifier',
    )
    const serial = /serial=([0-9A-F]+)/.exec(stdout)![1]!
    const key = /([0-9A-F]{2}(?::[0-9A-F]{2}){19})/.exec(stdout)![1]!.replaceAll(':', '')
    const isNegative = Number.parseInt(serial[0]!, 16) >= 8
    return [key, isNegative ? `00${serial}` : serial]
      .map(hex => Buffer.from(hex, 'hex').toString('base64url'))
      .join('.')
  }

  /** The ids of all certificates of a host, the last one last. */
  idsOf(host: string): readonly string[] {
    return [...this.#certificateIds].filter(([, order]) => order.host === host).map(([id]) => id)
  }

  #renewalInfo(id: string, send: Send): void {
    if (!this.#settings.ari) throw new Refused(404, 'malformed', 'no renewalInfo here')
    const order = this.#certificateIds.get(id)
    if (order === undefined) {
      this.#fault(`renewalInfo of an unknown certificate ${id}`)
      throw new Refused(404, 'malformed', 'no such certificate')
    }
    const { validFromDate, validToDate } = new X509Certificate(order.chain!)
    const life = validToDate.getTime() - validFromDate.getTime()
    const usual = [validFromDate.getTime() + 0.6 * life, validFromDate.getTime() + 0.65 * life] as const
    const [start, end] = (this.windows.get(id) ?? usual).map(at => new Date(at).toISOString())
    send(200, { suggestedWindow: { start, end } }, { 'Retry-After': String(this.renewalRetryAfter) })
  }
}

type Send = (status: number, body: unknown, headers?: Readonly<Record<string, string>>) => void

async function bodyOf(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await Array.fromAsync(request)).toString()
}

/** Asks for the token as RFC 8555 section 8.3 has it. */
async function validateOverHttp(
  host: string,
  token: string,
  expected: string,
  { http: port }: AcmeServer['ports'],
): Promise<string | null> {
  const sent = request({
    host: '127.0.0.1',
    port,
    path: `/.well-known/acme-challenge/${token}`,
    headers: { Host: host },
  })
  sent.setTimeout(5_000, () => sent.destroy(new Error('Timeout during connect (likely firewall problem)')))
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const body = await bodyOf(response)
  if (response.statusCode !== 200)
    return `Invalid response from http://${host}/.well-known/acme-challenge/${token}: ${response.statusCode}`
  return body === expected ? null : 'The key authorization file from the server did not match this challenge'
}

/** Checks the certificate of a handshake as RFC 8737 section 3 has it. */
async function validateInTls(
  host: string,
  _token: string,
  expected: string,
  { tls: port }: AcmeServer['ports'],
): Promise<string | null> {
  const options = { servername: host, ALPNProtocols: ['acme-tls/1'], rejectUnauthorized: false }
  const socket = connect({ host: '127.0.0.1', port, ...options })
  socket.setTimeout(5_000, () => socket.destroy(new Error('Timeout')))
  try {
    await once(socket, 'secureConnect')
    if (socket.alpnProtocol !== 'acme-tls/1') return 'The server did not negotiate acme-tls/1'
    const { raw, subjectAltName, publicKey } = socket.getPeerX509Certificate()!
    if (subjectAltName !== `DNS:${host}`) return `The certificate is for ${subjectAltName}`
    if (publicKey.asymmetricKeyType === undefined) return 'no key'
    const hashed = createHash('sha256').update(expected).digest()
    // The critical extension id-pe-acmeIdentifier with an octet string in an octet string.
    const extension = Buffer.concat([
      Buffer.from('06082b06010505070 11f0101ff04220420'.replace(' ', ''), 'hex'),
      hashed,
    ])
    return raw.includes(extension) ? null : 'The acmeIdentifier extension is not the expected one'
  } finally {
    socket.destroy()
  }
}
