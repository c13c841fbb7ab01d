// Which addresses may be dialled. Checked at each connection to an origin, health checks included, for the very address that is dialled: what a name resolves to may have
// changed since the last lookup.

import type { Endpoint, OriginConfig } from '../../config/model/config.ts'
import type { OriginFault } from '../../errors/catalogue/origin-failure.ts'
import { isOwn } from './own-addresses.ts'
import { isPublic } from './public-address.ts'

export class AddressGuard {
  /** The addresses on which this gateway itself listens. */
  ownEndpoints: readonly Endpoint[] = []

  /** Returns why an address must not be dialled; null where it may be. Of an origin behind a proxy, it is that of the proxy, which the operator has chosen. */
  faultOf(address: string, { port, transport }: OriginConfig): OriginFault | null {
    const { proxy } = transport
    if (isOwn(address, proxy?.port ?? port, this.ownEndpoints)) return 'GH_OWN_ADDRESS'
    if (proxy === null && transport.addresses === 'public' && !isPublic(address))
      return 'GH_PROHIBITED_ADDRESS'
    return null
  }
}
