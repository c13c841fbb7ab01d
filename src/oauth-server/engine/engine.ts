// oidc-provider with the decisions, the storage and the responses of this server.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '../../log/log.ts'
import { guardWith, unavailable } from '../http/unavailable.ts'
import { configurationOf } from './configuration.ts'
import { Decisions } from './decisions.ts'
import type { EngineParts } from './engine-parts.ts'
import { errorEvents } from './error-response.ts'
import type { Context, Library, OidcError, Provider } from './library.ts'
import { providerClass, setClientRules } from './models.ts'
import { currentRequest, type OAuthRequest, withRequest } from './request.ts'
import { finishing } from './finish-response.ts'

export interface Engine {
  handle(request: IncomingMessage, response: ServerResponse, state: OAuthRequest): Promise<void>
}

export async function openEngine(parts: EngineParts): Promise<Engine> {
  const library = await load()
  const { TemporarilyUnavailable } = library.errors
  const guard = guardWith(description => {
    const error = new TemporarilyUnavailable(description)
    error.status = error.statusCode = unavailable.status
    return error
  })
  const decisions = new Decisions(parts, library)
  const OwnProvider = providerClass(library, parts.tags)
  const provider = new OwnProvider(parts.issuer, configurationOf(parts, { library, decisions, guard }))
  // The URLs that it makes begin with the issuer, not with the address of the connection.
  provider.proxy = true
  setClientRules(provider, decisions, guard)
  provider.use(finishing(parts, library.errors, guard))
  listen(provider, library.errors, parts.log)
  const respond = provider.callback()
  return {
    handle: (request, response, state) => withRequest(state, () => respond(request, response)),
  }
}

function listen(provider: Provider, { OIDCProviderError }: Library['errors'], log: Logger): void {
  const message = 'authorization server failed: internal error'
  provider.on('error', (err: unknown, { req }: Context) => {
    // The end of a client's connection is no bug.
    if (req.socket.errored !== err) log.error({ err }, message)
  })
  for (const event of errorEvents)
    provider.on(event, (_: Context, failure: OidcError) => {
      currentRequest().failure = failure
    })
  provider.on('server_error', (_: Context, err: unknown) => {
    const request = currentRequest()
    request.failure = new OIDCProviderError(500, 'server_error')
    log.error({ err, ray: request.sender.ray }, message)
  })
}

/** Its main module does nothing more, but warns on the console unless Node is an LTS release. */
async function load(): Promise<Library> {
  const [{ Provider }, errors, interactionPolicy] = await Promise.all([
    import('oidc-provider/lib/provider.js'),
    import('oidc-provider/lib/helpers/errors.js'),
    import('oidc-provider/lib/helpers/interaction_policy/index.js'),
  ])
  return { Provider, errors, interactionPolicy }
}
