// What the edge tells its side port about a request, signed with a secret of this run.

import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'

interface SidePortClaim {
  readonly address: string
  readonly ray: string
}

export class SidePortAuth {
  readonly #key: KeyObject

  constructor(secret: Uint8Array) {
    this.#key = createSecretKey(secret)
  }

  write({ address, ray }: SidePortClaim): string {
    const claim = `${ray} ${address}`
    return `${claim} ${this.#sign(claim).toString('base64url')}`
  }

  /** In constant time; null if the value was not written with this secret. */
  read(value: string): SidePortClaim | null {
    const [, claim = '', ray = '', address = '', signature = ''] = form.exec(value) ?? []
    if (isIP(address) === 0) return null
    return timingSafeEqual(this.#sign(claim), Buffer.from(signature, 'base64url')) ? { address, ray } : null
  }

  #sign(claim: string): Buffer {
    return createHmac('sha256', this.#key).update(claim, 'latin1').digest()
  }
}

const form = /^(([0-9a-f]{16}) ([0-9a-f.:]{2,45})) ([\w-]{43})$/
