// The engine of the authorization server, with every decision that is ours put into it. It is loaded when the first request comes.

import type { Logger } from '../../log/log.ts'
import type { EngineFailure } from './reasons.ts'
import { factsOf } from './request-facts.ts'
import type { Context, EngineModule, Provider } from './engine-types.ts'
import { configurationOf } from './configuration.ts'
import { Decisions } from './decisions.ts'
import type { EngineParts } from './engine-parts.ts'
import { shape } from './shape.ts'

export type Engine = Provider

/** Loads the engine and sets it up. */
export async function openEngine(parts: EngineParts): Promise<Engine> {
  const oidc = await load(parts.log)
  const decisions = new Decisions(parts, oidc)
  const provider = new oidc.Provider(parts.issuer, configurationOf(parts, oidc, decisions))
  // The issuer says where it is reached, not the connection.
  provider.proxy = true
  shape(provider, decisions, parts.tags)
  provider.use(parts.around)
  provider.on('error', (err: unknown, context: Context) => {
    // What ends the connection of a client is no bug.
    if (context.req.socket.errored !== err)
      parts.log.error({ err }, 'authorization server failed: internal error')
  })
  for (const event of failureEvents)
    provider.on(event, (context: Context, failure: EngineFailure) => {
      factsOf(context.req).failure = inItsName(context, failure)
    })
  provider.on('server_error', (context: Context, err: EngineFailure) => {
    factsOf(context.req).failure = { error: 'server_error' }
    parts.log.error(
      { err, ray: factsOf(context.req).sender.ray },
      'authorization server failed: internal error',
    )
  })
  return provider
}

/** Names a failure as RFC 6749 section 5.2 does, where the engine has another name for it. */
function inItsName(context: Context, failure: EngineFailure): EngineFailure {
  const { error_description } = failure
  if (error_description !== 'requested grant type is not allowed for this client') return failure
  const named = {
    error: 'unauthorized_client',
    error_description: 'the client has not registered this grant type',
  }
  context.body = { ...named }
  return named
}

const failureEvents = [
  'authorization.error',
  'grant.error',
  'revocation.error',
  'introspection.error',
  'userinfo.error',
]

const runtimeNotice = 'Unsupported runtime'

/** Its authors test the even releases of Node once they are LTS, and it warns of every other on the console. Ours are held by the tests here. */
async function load(log: Logger): Promise<EngineModule> {
  const { warn } = console
  console.warn = (...words: unknown[]) => {
    if (String(words[0]).includes(runtimeNotice))
      log.debug(
        { node: process.version },
        'oidc-provider is not tested on this version of Node by its authors',
      )
    else warn(...words)
  }
  try {
    return await import('oidc-provider')
  } finally {
    console.warn = warn
  }
}
