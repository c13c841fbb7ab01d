// Which addresses may be dialled. The very address is checked: the name may have been resolved again.

import { AddressSet } from '../../net/address/address.ts'
import type { Endpoint, OriginConfig } from '../../config/model/config.ts'
import type { OriginFault } from '../../errors/catalogue/origin-failure.ts'
import { isOwn } from './own-addresses.ts'
import { isPublic } from '../../net/address/public-address.ts'

export class AddressGuard {
  ownEndpoints: readonly Endpoint[] = []

  /** A proxy's address is the operator's choice. */
  faultOf(address: string, { port, transport }: OriginConfig): OriginFault | null {
    const { proxy } = transport
    if (isOwn(address, proxy?.port ?? port, this.ownEndpoints)) return 'GH_OWN_ADDRESS'
    if (proxy === null && transport.addresses === 'public' && !isPublic(address) && !isIn(transport, address))
      return 'GH_PROHIBITED_ADDRESS'
    return null
  }
}

function isIn({ networks = [] }: OriginConfig['transport'], address: string): boolean {
  return networks.length > 0 && new AddressSet(networks).has(address)
}
