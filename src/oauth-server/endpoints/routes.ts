// Which endpoint serves which path, by which methods.

import { bearerOf } from '../../tokens/bearer.ts'
import { redirectForm } from './authorization-request.ts'
import { respondToPreflight, allowAllOrigins } from '../http/cors.ts'
import { noProofs } from '../engine/decisions.ts'
import type { Call, EndpointParts } from './endpoint.ts'
import { introspectByToken } from './introspection.ts'
import type { LibraryEndpoints } from './library-endpoints.ts'
import { logout } from './logout.ts'
import { metadataOf } from './metadata.ts'
import { errorDocument } from '../pages/pages.ts'
import { errorDocumentOf, paths } from '../http/paths.ts'
import { sendError, sendJson, sendPage } from '../http/responses.ts'

type Endpoint = (call: Call, parts: EndpointParts, library: LibraryEndpoints) => Promise<void> | void

interface Route {
  /** GET includes HEAD. */
  readonly methods: readonly string[]
  readonly serve: Endpoint
}

export function routeOf(path: string): Route {
  if (errorDocumentOf(path) !== null) return { methods: ['GET'], serve: explainError }
  return routes[path] ?? { methods: ['GET'], serve: byLibrary }
}

const byLibrary: Endpoint = (call, _, library) => library.serve(call)

const metadata = (call: Call, { issuer, routes, config }: EndpointParts) =>
  publish(call, metadataOf(issuer(), routes.scopes, config.clientIdMetadataDocuments.hosts.length > 0))

const routes: Readonly<Record<string, Route>> = {
  [paths.authorization]: {
    methods: ['GET', 'POST'],
    serve: (call, parts, library) =>
      call.request.method === 'POST' ? redirectForm(call, parts) : library.serve(call),
  },
  [paths.token]: {
    methods: ['POST', 'OPTIONS'],
    serve: (call, parts, library) =>
      call.request.headers.dpop === undefined ? library.serve(call) : refuseProof(call, parts),
  },
  [paths.revocation]: { methods: ['POST', 'OPTIONS'], serve: byLibrary },
  [paths.introspection]: {
    methods: ['POST'],
    serve: (call, parts, library) => {
      const token = bearerOf(call.request.headers.authorization ?? null)
      return token === null ? library.serve(call) : introspectByToken(token, call, parts)
    },
  },
  [paths.userinfo]: { methods: ['GET', 'POST', 'OPTIONS'], serve: byLibrary },
  [paths.endSession]: { methods: ['GET', 'POST'], serve: logout },
  [paths.jwks]: {
    methods: ['GET', 'OPTIONS'],
    serve: async (call, { keys }) => publish(call, { keys: (await keys.current()).published }),
  },
  [paths.openid]: { methods: ['GET', 'OPTIONS'], serve: metadata },
  [paths.metadata]: { methods: ['GET', 'OPTIONS'], serve: metadata },
}

/** Sends what is public, to pages of other sites too. */
function publish({ request, response }: Call, document: object): void {
  allowAllOrigins(response)
  if (request.method === 'OPTIONS') return respondToPreflight(response)
  response.setHeader('cache-control', 'public, max-age=300')
  sendJson(response, 200, document)
}

/** A token that is bound to nothing is not what the app has asked for. */
function refuseProof({ response }: Call, { issuer }: EndpointParts): void {
  sendError(response, issuer(), { status: 400, error: 'invalid_request', description: noProofs })
}

function explainError({ request, response, path }: Call): void {
  const page = errorDocument(errorDocumentOf(path)!.error, request.headers.accept ?? null)
  if (page === null) sendJson(response, 404, { error: 'not_found' })
  else sendPage(response, page)
}
