// Whether an address leads back to this gateway.

import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { AddressSet, canonicalAddress } from '../../net/address/address.ts'
import { systemClock } from '../../base/clock.ts'
import type { Endpoint } from '../../config/model/config.ts'

/** A listener on 0.0.0.0 or :: has every address of this machine. */
export function isOwn(address: string, port: number, listeners: readonly Endpoint[]): boolean {
  return listeners.some(listener => listener.port === port && reaches(address, listener.host))
}

interface SidePortListeners {
  readonly endpoint: Endpoint
  readonly issuer: Endpoint | null
}

export function isSidePort(sidePort: SidePortListeners | null, address: string, port: number): boolean {
  if (sidePort === null) return false
  const listener = sidePort.endpoint.port === port ? sidePort.endpoint : sidePort.issuer
  return listener?.port === port && isOwn(address, port, [listener])
}

function reaches(address: string, host: string): boolean {
  const canonical = canonicalAddress(address)
  if (canonical === null) return false
  const target = unspecified[canonical] ?? canonical
  const bound = canonicalAddress(host)
  if (bound === '0.0.0.0') return isIPv4(target) && isLocal(target)
  // Only the system knows the addresses behind a host name.
  if (bound === '::' || bound === null) return isLocal(target)
  return target === bound
}

/** Connecting to the unspecified address connects to this machine. */
const unspecified: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

const loopback = new AddressSet(['127.0.0.0/8', '::1'])

/** Listing the addresses takes longer than connecting. */
const cacheTime = 1_000

let localAddresses: ReadonlySet<string> = new Set()
let listedAt = Number.NEGATIVE_INFINITY

function isLocal(address: string): boolean {
  const now = systemClock.monotonic()
  if (now - listedAt >= cacheTime) {
    const interfaces = Object.values(networkInterfaces()).flatMap(networkInterface => networkInterface ?? [])
    localAddresses = new Set(interfaces.map(networkInterface => canonicalAddress(networkInterface.address)!))
    listedAt = now
  }
  return localAddresses.has(address) || loopback.has(address)
}
