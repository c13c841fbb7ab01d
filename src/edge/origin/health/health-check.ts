// One active check of one origin: a GET on a connection of its own.

import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { request as requestTls } from 'node:https'
import {
  connect as connectTcp,
  isIP,
  type LookupFunction,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net'
import { connect as connectTls, type ConnectionOptions, TLSSocket } from 'node:tls'
import { request as requestPlain } from '../../../net/http/node-http.ts'
import type { OriginConfig } from '../../../config/model/config.ts'
import type { CheckConfig } from '../../../config/model/pool-config.ts'
import type { AddressGuard } from '../../resolver/address-guard.ts'
import { guarded } from '../../../base/guarded.ts'
import { checkByHttp2 } from '../http2/health-check.ts'
import type { NameAnswer, NameLookup } from '../../resolver/name-lookup.ts'
import type { Cause, Failure, OriginFault } from '../../../errors/catalogue/origin-failure.ts'

const maxBody = 64 * 1024

export interface CheckedOrigin {
  readonly origin: OriginConfig
  readonly check: CheckConfig
}

export type CheckOutcome = { readonly status: number } | { readonly error: string }

export interface CheckContext {
  readonly lookup: NameLookup
  readonly lastAddresses: Map<string, readonly string[]>
  readonly guard: AddressGuard
}

/** Rejects for internal errors alone. Does not follow redirects. */
export async function checkHealth(
  { origin, check }: CheckedOrigin,
  context: CheckContext,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  const fault = isIP(origin.host) === 0 ? null : context.guard.faultOf(origin.host, origin)
  if (fault !== null) return { error: fault }
  const options = { ...optionsFor(origin, check, context), signal }
  if (origin.transport.http !== '1') return outcomeByHttp2(origin, check, options)
  const send = origin.protocol === 'https' ? requestTls : requestPlain
  return outcomeOf(send(options), check.timeout)
}

/** Falls back to HTTP/1.1 on the same connection. */
function outcomeByHttp2(
  origin: OriginConfig,
  check: CheckConfig,
  options: RequestOptions & { readonly signal: AbortSignal },
): Promise<CheckOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<CheckOutcome>()
  const start = performance.now()
  const isTls = origin.protocol === 'https'
  // To a socket, a path is that of a file.
  const { path: _, ...address } = options
  const socket = isTls ? openTls(address) : connectTcp(address as TcpNetConnectOpts)
  const settle = (outcome: CheckOutcome) => {
    resolve(outcome)
    socket.destroy()
  }
  const crashed = (bug: unknown) => {
    reject(bug)
    socket.destroy()
  }
  const fail = (error: OriginFault) => settle({ error })
  const timer = setTimeout(
    guarded(() => fail('GH_RESPONSE_TIMEOUT'), crashed),
    check.timeout,
  )
  const opened = () => {
    if (!(socket instanceof TLSSocket) || socket.alpnProtocol === 'h2')
      return checkByHttp2(socket, {
        scheme: origin.protocol,
        authority: check.host ?? new URL(origin.url).host,
        path: check.path,
        responded: status => settle({ status }),
        failed: () => fail('GH_BAD_ANSWER'),
        crashed,
      })
    const request = requestTls({ ...options, createConnection: () => socket })
    resolve(outcomeOf(request, check.timeout - (performance.now() - start)))
  }
  const closed = () => {
    clearTimeout(timer)
    fail('GH_CLOSED')
  }
  socket.on(isTls ? 'secureConnect' : 'connect', guarded(opened, crashed))
  const failed = ({ code }: Cause) => settle({ error: code ?? 'GH_BAD_ANSWER' })
  socket.on('error', guarded(failed, crashed))
  socket.on('end', guarded(closed, crashed))
  socket.on('close', guarded(closed, crashed))
  options.signal.addEventListener('abort', guarded(closed, crashed), { once: true })
  return promise
}

function openTls(options: RequestOptions): Socket {
  return connectTls({ ...(options as ConnectionOptions), ALPNProtocols: ['h2', 'http/1.1'] })
}

function optionsFor(
  origin: OriginConfig,
  { path, host }: CheckConfig,
  context: CheckContext,
): RequestOptions {
  const { verify, serverName, ca, identity } = origin.tls
  const tls = {
    rejectUnauthorized: verify,
    // Otherwise the Host header would be used.
    servername: serverName ?? (isIP(origin.host) === 0 ? origin.host : ''),
    ...(ca !== null && { ca }),
    ...(identity !== null && { cert: identity.certificate, key: identity.key }),
  }
  return {
    host: origin.host,
    port: origin.port,
    path,
    headers: { Host: host ?? new URL(origin.url).host, 'User-Agent': 'gatehouse-check', Accept: '*/*' },
    agent: false,
    lookup: lookupFor(origin, context),
    ...tls,
  }
}

function lookupFor(origin: OriginConfig, context: CheckContext): LookupFunction {
  return (name, _, callback) => {
    const responded = (result: Addresses | Failure) => {
      if (!('addresses' in result)) return callback(errorOf(result.cause.code), [])
      const faults = result.addresses.map(address => context.guard.faultOf(address, origin))
      const allowed = result.addresses.filter((_, i) => faults[i] === null)
      if (allowed.length === 0) return callback(errorOf(faults[0]!), [])
      callback(
        null,
        allowed.map(address => ({ address, family: isIP(address) })),
      )
    }
    void addressesOf(name, context).then(guarded(responded, bug => callback(bug as Error, [])))
  }
}

/** After the first time only for the next check, as DNS may be slow. */
async function addressesOf(
  name: string,
  { lookup, lastAddresses }: CheckContext,
): Promise<Addresses | Failure> {
  const previous = lastAddresses.get(name)
  const current = lookup.lookUp(name).then(result => {
    if ('addresses' in result) lastAddresses.set(name, result.addresses)
    else if (result.way === 'name_vanished') lastAddresses.delete(name)
    return result
  })
  return previous === undefined ? current : { addresses: previous }
}

type Addresses = Pick<NameAnswer, 'addresses'>

function errorOf(code = 'ENOTFOUND'): NodeJS.ErrnoException {
  return Object.assign(new Error('the origin has no address'), { code })
}

function outcomeOf(request: ClientRequest, timeout: number): Promise<CheckOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<CheckOutcome>()
  const fail = (error: OriginFault) => resolve({ error })
  const crashed = (bug: unknown) => {
    reject(bug)
    request.destroy()
  }
  const onTimeout = () => {
    fail('GH_RESPONSE_TIMEOUT')
    request.destroy()
  }
  const timer = setTimeout(guarded(onTimeout, crashed), timeout)
  const responded = (response: IncomingMessage) => {
    resolve({ status: response.statusCode! })
    let length = 0
    response.on('error', () => {})
    const count = ({ length: more }: Buffer) => {
      length += more
      if (length > maxBody) request.destroy()
    }
    response.on('data', guarded(count, crashed))
  }
  const failed = ({ code }: Cause) => (code === undefined ? fail('GH_BAD_ANSWER') : resolve({ error: code }))
  const closed = () => {
    clearTimeout(timer)
    fail('GH_CLOSED')
  }
  request.on('response', guarded(responded, crashed))
  request.on('error', guarded(failed, crashed))
  request.on('close', guarded(closed, crashed))
  request.end()
  return promise
}
