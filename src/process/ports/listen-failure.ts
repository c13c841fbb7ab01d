// Describes the failure of a listening socket as a sentence for the operator.

import { once } from 'node:events'
import { createServer, isIP, isIPv6 } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config, Endpoint } from '../../config/model/config.ts'
import { dataFolder } from '../store/location.ts'
import { ownerOf, type PortOwner } from './port-owner.ts'

const pause = 50

interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

type Addresses = Pick<Config, 'listen' | 'admin'>

export function listenFailure(cause: unknown, addresses: Addresses): unknown {
  if (!(cause instanceof Error)) return cause
  const owner = isInUse(cause) ? ownerOf((cause as ListenError).port ?? 0) : null
  const sentence = sentenceOf(cause, owner)
  if (sentence === null) return cause
  const remedy = remedyFor(cause, addresses, owner)
  return new Error(remedy === null ? sentence : `${sentence}; ${remedy}`, { cause })
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'this machine does not have this address',
  EACCES: 'permission denied for this port',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name does not resolve at the moment',
  ENOTSUP: 'this system cannot share a port between workers',
}

function sentenceOf(cause: ListenError, owner: PortOwner | null): string | null {
  const { code = '', address, port, hostname } = cause
  const where = address === undefined ? hostname : `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const reason = reasons[code]
  if (reason === undefined || where === undefined) return null
  return `cannot listen on ${where}: ${reason}${owner === null ? '' : ` by ${nameOf(owner)}`}`
}

function nameOf({ pid, program, isGateway }: PortOwner): string {
  return `${isGateway ? 'the gateway with this data folder' : program} (process ${pid})`
}

function remedyFor(cause: ListenError, addresses: Addresses, owner: PortOwner | null): string | null {
  if (cause.code === 'ENOTSUP') return 'set workers to 0'
  const settings = settingsFor(cause, addresses)
  const choice = settings === null ? null : `choose another with ${settings}`
  const isLow = cause.code === 'EACCES' && (cause.port ?? 0) < 1024
  const capability = isLow ? 'those below 1024 need root or the capability CAP_NET_BIND_SERVICE' : null
  const isSidePort = owner?.isGateway && isAbout(cause, addresses.admin)
  const replacement = isSidePort ? 'take over from it with --replace' : null
  return [capability, replacement, choice].filter(part => part !== null).join(', or ') || null
}

/** Options and variables come first. */
function settingsFor(cause: ListenError, { listen, admin }: Addresses): string | null {
  const at = listen.findIndex(endpoint => isAbout(cause, endpoint))
  if (at < 0) return isAbout(cause, admin) ? '--admin or the setting admin' : null
  const setting = `the setting ${listen.length === 1 ? 'listen' : `listen[${at}]`}`
  const isOnlyPlain = listen.every(({ tls }, i) => tls !== (i === at))
  if (!isOnlyPlain) return setting
  // It changes the port, not the host.
  return `--listen${isOfPort(cause) ? ', PORT' : ''} or ${setting}`
}

function isOfPort({ code }: ListenError): boolean {
  return code === 'EADDRINUSE' || code === 'EACCES'
}

function isAbout({ address, port, hostname }: ListenError, endpoint: Endpoint): boolean {
  if (address === undefined) return endpoint.host === hostname
  return endpoint.port === port && (endpoint.host === address || isIP(endpoint.host) === 0)
}

export function isInUse(cause: unknown): boolean {
  return (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
}

export function noneToReplace(cause: Error, { port }: Endpoint): Error {
  const sentence = sentenceOf(cause, ownerOf(port))
  return new Error(`${sentence}; --replace found no gateway there with the data folder ${dataFolder()}`, {
    cause,
  })
}

/** Rejects when another process still listens after `timeout` ms, which shared ports would hide. */
export async function assertFree(endpoint: Endpoint, timeout = 0): Promise<void> {
  for (const begun = performance.now(); ; await wait(pause)) {
    try {
      return await probe(endpoint)
    } catch (cause) {
      if (!isInUse(cause) || performance.now() - begun >= timeout) throw cause
    }
  }
}

async function probe(endpoint: Endpoint): Promise<void> {
  const server = createServer()
  server.listen({ ...endpoint })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
