// Which addresses may be dialled. Every connection to an origin is checked, health checks included, by the
// very address to dial: what a name resolves to may have changed since the last lookup.

import type { Endpoint, OriginConfig } from '../../config/model/config.ts'
import type { OriginFault } from '../../errors/catalogue/origin-failure.ts'
import { isOwn } from './own-addresses.ts'
import { isPublic } from './public-address.ts'

export class AddressGuard {
  /** The addresses on which this gateway itself listens. */
  ownEndpoints: readonly Endpoint[] = []

  /**
   * Returns why an address must not be dialled; null if it may. For an origin behind a proxy, the address is
   * the proxy's, which the operator has chosen.
   */
  faultOf(address: string, { port, transport }: OriginConfig): OriginFault | null {
    const { proxy } = transport
    if (isOwn(address, proxy?.port ?? port, this.ownEndpoints)) return 'GH_OWN_ADDRESS'
    if (proxy === null && transport.addresses === 'public' && !isPublic(address))
      return 'GH_PROHIBITED_ADDRESS'
    return null
  }
}
