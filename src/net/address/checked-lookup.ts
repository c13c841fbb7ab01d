// Name resolution for connections that must not lead everywhere: the very addresses that are dialled are
// checked, since a name may be resolved again.

import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Calls back with a `ProhibitedAddress` if none may be dialled. */
export function lookupOnly(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (failure, addresses) => {
      if (failure !== null) return callback(failure, [])
      const allowed = addresses.filter(({ address }) => isAllowed(address))
      if (allowed.length === 0) return callback(new ProhibitedAddress(), [])
      if (options.all === true) callback(null, allowed)
      else callback(null, allowed[0]!.address, allowed[0]!.family)
    })
}

class ProhibitedAddress extends Error {
  readonly code = 'PROHIBITED'
}
