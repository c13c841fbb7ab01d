// The pages on a server of their own over a real store, and a person with a browser without script, as a program.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { noRoutes } from '../help/route-resources.ts'
import pino from 'pino'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import type { PeopleConfig } from '../../src/config/model/config.ts'
import { newSetUp } from '../../src/people/links/links.ts'
import type { OpenIdSettings } from '../../src/people/openid/openid-provider.ts'
import { People } from '../../src/people/people.ts'
import { paths } from '../../src/pages/parts/paths.ts'
import { Grants } from '../../src/sign-in/connected-apps.ts'
import type { Interactions } from '../../src/sign-in/consent.ts'
import { SignInFace } from '../../src/sign-in/face.ts'
import { openStore } from '../../src/store/open.ts'
import type { User } from '../../src/store/records/people.ts'
import type { Account } from '../../src/store/records/records.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { password, Settlement } from '../people/settlement.ts'
import { ContractClock } from '../store/contract-clock.ts'

interface SiteOptions {
  readonly config?: Partial<PeopleConfig>
  /** Starts the OpenID provider of an origin. */
  readonly provider?: (origin: string) => Promise<OpenIdSettings>
  /** What apps ask of people. */
  readonly interactions?: Interactions
}

export class Site extends Settlement {
  readonly clock: ContractClock
  readonly people: People
  readonly keys = new SecretKeys(randomBytes(32))
  origin: string
  hasDashboard = true
  /** Other origins of the pages. */
  readonly others: string[] = []

  private constructor(origin: string, store: Store, clock: ContractClock, config: Partial<PeopleConfig>) {
    super(store)
    this.origin = origin
    this.clock = clock
    this.people = new People({
      store,
      keys: this.keys,
      config: { signUp: 'invited', openid: null, ...config },
      log: pino({ enabled: false }),
      passwords: this.passwords,
      clock,
    })
  }

  static async open(t: TestContext, options: SiteOptions = {}): Promise<Site> {
    const { config = {}, interactions = null, provider } = options
    const clock = new ContractClock()
    const url = `sqlite:${join(quickFolder(t, 'pages'), 'gatehouse.db')}`
    const store = await openStore(url, { commandTimeout: 5_000, clock })
    const server = createServer({ keepAliveTimeout: 60_000 })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.after(async () => {
      server.close()
      server.closeAllConnections()
      await store.close()
    })
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const openid = (await provider?.(origin)) ?? null
    const site = new Site(origin, store, clock, { openid, ...config })
    const face = new SignInFace({
      people: site.people,
      grants: new Grants(store, () => 'management', noRoutes, clock),
      interactions,
      origins: () => [site.origin, ...site.others],
      hasDashboard: () => site.hasDashboard,
      knowsScheme: () => true,
    })
    server.on('request', (request, response) => {
      const known = { address: '192.0.2.7', peer: '127.0.0.1', ray: '0123456789abcdef' }
      const sender = { ...known, isVouched: false, base: null }
      face.serve(request, response, sender).catch(bug => response.writeHead(500).end(String(bug)))
    })
    return site
  }

  /** Returns the path of a link that sets an account up. */
  async setUpLink({ id }: Account): Promise<string> {
    const link = newSetUp(id, this.clock.now())
    await this.store.credentials.put(link.credential)
    return `${paths.setUp}?token=${link.value}`
  }

  visitor(): Visitor {
    return new Visitor(this.origin)
  }

  /** Returns the browser of a user who has signed in. */
  async signedIn({ email }: User): Promise<Visitor> {
    const visitor = this.visitor()
    const page = await visitor.get(paths.signIn)
    assert.equal((await page.submit(paths.signIn, { email, password })).status, 303)
    return visitor
  }
}

/** A browser: it keeps cookies, and follows no redirects. */
export class Visitor {
  readonly cookies = new Map<string, string>()
  readonly #origin: string
  readonly #via: string
  readonly #always: Readonly<Record<string, string>>

  /** `via` is where the origin is reached, for one whose name leads nowhere; `always` is sent with each request. */
  constructor(origin: string, via = origin, always: Readonly<Record<string, string>> = {}) {
    this.#origin = origin
    this.#via = via
    this.#always = always
  }

  get(path: string): Promise<ShownPage> {
    return this.send(path, {})
  }

  /** Sends a form. */
  post(
    path: string,
    fields: Readonly<Record<string, string>> | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ShownPage> {
    const own = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: this.#origin,
      'sec-fetch-site': 'same-origin',
    }
    const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString()
    return this.send(path, { method: 'POST', headers: { ...own, ...headers }, body })
  }

  /** Sends a form whose body comes only once something else has happened; returns the status and where it leads. */
  async postLate(
    path: string,
    fields: Readonly<Record<string, string>>,
    meanwhile: () => Promise<unknown>,
  ): Promise<readonly [status: number, location: string | undefined]> {
    const sent = request(new URL(path, this.#via), {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: this.#origin,
        cookie: Array.from(this.cookies, pair => pair.join('=')).join('; '),
        expect: '100-continue',
      },
    })
    await once(sent, 'continue')
    // By then the server has found out who sends it.
    await this.get(path)
    await meanwhile()
    sent.end(new URLSearchParams(fields).toString())
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    return [response.statusCode!, response.headers.location]
  }

  async send(path: string, { headers, ...options }: RequestInit): Promise<ShownPage> {
    const cookie = Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const own = { ...this.#always, ...(headers as object), ...(cookie !== '' && { cookie }) }
    const url = new URL(path, this.#via)
    const response =
      this.#via === this.#origin
        ? await fetch(url, { redirect: 'manual', ...options, headers: own })
        : await ask(url, { ...options, headers: { host: new URL(this.#origin).host, ...own } })
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!
      if (/Max-Age=0/.test(field)) this.cookies.delete(name!)
      else this.cookies.set(name!, value!)
    }
    return new ShownPage(this, response, await response.text())
  }
}

/** Sends a request with a Host of its own, which `fetch` does not. */
function ask(url: URL, { method = 'GET', headers, body }: RequestInit): Promise<Response> {
  return new Promise((resolve, reject) => {
    const options = { method, headers: headers as Record<string, string>, agent: false } as const
    const sent = request(url, options, async response => {
      const bytes = Buffer.concat(await response.toArray())
      const fields = new Headers()
      for (let i = 0; i < response.rawHeaders.length; i += 2)
        fields.append(response.rawHeaders[i]!, response.rawHeaders[i + 1]!)
      resolve(new Response(bytes, { status: response.statusCode!, headers: fields }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A page as a person has it before them. */
export class ShownPage {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly #visitor: Visitor

  constructor(visitor: Visitor, { status, headers }: Response, body: string) {
    this.#visitor = visitor
    this.status = status
    this.headers = headers
    this.body = body
  }

  get location(): string | null {
    return this.headers.get('location')
  }

  /** The words of the page, as they are read. */
  get text(): string {
    const shown = this.body
      .replace(/<(style|title)>.*?<\/\1>/gs, '')
      .replace(/<\/?(?:a|b|bdi|code|span|time)\b[^>]*>/g, '')
      .replace(/<[^>]*>/g, ' ')
    return unescaped(shown).replace(/\s+/g, ' ')
  }

  /** Follows a redirect. */
  follow(): Promise<ShownPage> {
    assert.ok(this.location, `${this.status}: ${this.text}`)
    return this.#visitor.get(this.location)
  }

  /** Returns what the hidden fields of a form hold, which leads to a path; `at` of several such. */
  hidden(action: string, at = 0): Record<string, string> {
    const forms = [...this.body.matchAll(/<form method="post" action="([^"]*)"[^>]*>(.*?)<\/form>/gs)]
    const found = forms.filter(([, to]) => to === action)[at]
    assert.ok(found, `no form to ${action}: ${this.text}`)
    const fields = found[2]!.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
    return Object.fromEntries(Array.from(fields, ([, name, value]) => [name!, unescaped(value!)]))
  }

  /** Fills in a form and sends it. */
  submit(action: string, fields: Readonly<Record<string, string>> = {}, at = 0): Promise<ShownPage> {
    return this.#visitor.post(action, { ...this.hidden(action, at), ...fields })
  }
}

/** Reads what is escaped in markup. */
export function unescaped(markup: string): string {
  return markup.replace(/&#(\d+);/g, (_, point) => String.fromCodePoint(Number(point)))
}
