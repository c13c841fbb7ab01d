// Which addresses may be dialled. Checked at each connection to an origin, health checks included, for the very address that is dialled: what a name resolves to may have
// changed since the last lookup.

import type { Endpoint, OriginConfig } from '../../config/config.ts'
import type { OriginFault } from '../../errors/origin-failure.ts'
import { isOwn } from './own-addresses.ts'
import { isPublic } from './public-address.ts'

export class AddressGuard {
  /** The addresses on which this gateway itself listens. */
  ownEndpoints: readonly Endpoint[] = []

  /** Returns why an address must not be dialled; null where it may be. */
  faultOf(address: string, { port, transport }: OriginConfig): OriginFault | null {
    if (isOwn(address, port, this.ownEndpoints)) return 'GH_OWN_ADDRESS'
    if (transport.addresses === 'public' && !isPublic(address)) return 'GH_PROHIBITED_ADDRESS'
    return null
  }
}
