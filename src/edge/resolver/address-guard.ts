// Which addresses may be dialled. Asked at each connection to an origin or to check one, of the very address that is dialled: what a name leads to may have
// changed since it was looked at last.

import type { Endpoint, OriginConfig } from '../../config/config.ts'
import type { OriginFault } from '../../errors/origin-failure.ts'
import { isOwn } from './own-addresses.ts'
import { isPublic } from './public-address.ts'

export class AddressGuard {
  /** Where this gateway itself listens for requests. */
  ownEndpoints: readonly Endpoint[] = []

  /** Names why an address must not be dialled; null where it may be. */
  faultOf(address: string, { port, transport }: OriginConfig): OriginFault | null {
    if (isOwn(address, port, this.ownEndpoints)) return 'GH_OWN_ADDRESS'
    if (transport.addresses === 'public' && !isPublic(address)) return 'GH_PROHIBITED_ADDRESS'
    return null
  }
}
