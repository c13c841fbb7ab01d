// The endpoints of the library, which is loaded with the first request.

import type { IncomingMessage } from 'node:http'
import { PeopleMetrics } from '../../metrics/counters/people-metrics.ts'
import { digestOf } from '../../tokens/token.ts'
import { forgetOtherSignIn, libraryQueryOf, refusedModeIn } from './authorization-request.ts'
import { cookieNames, cookiesOf } from '../http/cookies.ts'
import type { Call, EndpointParts } from './endpoint.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { OAuthRequest } from '../engine/request.ts'
import type { Interactions } from './interactions.ts'
import { errorUri, paths } from '../http/paths.ts'
import type { KeySet } from '../../tokens/signing-keys.ts'

export class LibraryEndpoints {
  readonly #parts: EndpointParts
  readonly #interactions: Interactions
  #engine: { readonly keys: string; readonly ready: Promise<Engine> } | null = null

  constructor(parts: EndpointParts, interactions: Interactions) {
    this.#parts = parts
    this.#interactions = interactions
  }

  async serve({ request, response, sender, path, query }: Call): Promise<void> {
    const { personOf, tags, keys, issuer } = this.#parts
    const isOfBrowser = path.startsWith(paths.authorization)
    // The headers of the request itself are changed below.
    const sent = { headers: { ...request.headers } }
    const personNow = async () => (isOfBrowser ? personOf(sent) : null)
    const person = await personNow()
    const isFirst = path === paths.authorization
    const refusedMode = isFirst ? refusedModeIn(query) : null
    const state = new OAuthRequest({ sender, person, personNow, refusedMode })
    if (isFirst) request.url = `${path}${await libraryQueryOf(query, state, this.#parts)}`
    else if (isOfBrowser) {
      const uid = path.slice(paths.authorization.length + 1)
      await this.#endWithoutClient(uid)
      await forgetOtherSignIn(uid, person, this.#parts.store)
      // The library goes on with the interaction that was checked, whatever other cookies there are.
      const own = `${cookieNames(issuer()).resume}=${uid}`
      request.headers.cookie = cookiesOf(request).includes(own) ? own : ''
    }
    setOrigin(request, issuer())
    await tags.ready()
    const engine = await this.#open(await keys.current())
    await engine.handle(request, response, state)
  }

  /** Its client or redirect URI is gone: nothing is sent there, not even an error. */
  async #endWithoutClient(uid: string): Promise<void> {
    if ((await this.#interactions.clientOf(uid)) === null)
      await this.#parts.store.credentials.remove('interaction', digestOf(uid))
  }

  /** Opens the library, again when the keys have changed: it takes them with its configuration. */
  #open({ name, signing }: KeySet): Promise<Engine> {
    if (this.#engine?.keys === name) return this.#engine.ready
    const { config, clientSecrets, events, metrics = new PeopleMetrics(), ...parts } = this.#parts
    const issuer = parts.issuer()
    const ready = openEngine({
      ...parts,
      issuer,
      hasDocuments: config.clientIdMetadataDocuments.hosts.length > 0,
      lifetimes: config.lifetimes,
      keys: signing,
      secrets: clientSecrets,
      metrics,
      errorUri: error => errorUri(issuer, error),
      note: event => events.note(event),
    })
    this.#engine = { keys: name, ready }
    ready.catch(() => {
      this.#engine = null
    })
    return ready
  }
}

function setOrigin({ headers }: IncomingMessage, issuer: string): void {
  const { host, protocol } = new URL(issuer)
  headers.host = host
  headers['x-forwarded-proto'] = protocol.slice(0, -1)
  for (const name of ['x-forwarded-host', 'x-forwarded-for', 'x-forwarded-port']) delete headers[name]
}
