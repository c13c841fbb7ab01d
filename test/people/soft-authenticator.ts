// An authenticator in software (ES256, attestation `none`), which a test can have lie in every part.

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

interface Lies {
  readonly origin?: string
  readonly host?: string
  readonly type?: string
  readonly crossOrigin?: boolean
  /** Of authenticator data: user present, user verified. */
  readonly flags?: number
  readonly counter?: number
  readonly id?: string
  readonly user?: string | null
  readonly fmt?: string
}

const verified = 0x05
const attested = 0x40

export class SoftAuthenticator {
  readonly id = randomBytes(32).toString('base64url')
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #origin: string
  readonly #user: string
  /** Grows with each signature. */
  counter = 0

  /** For pages of an origin, and a user by id. */
  constructor(origin: string, user: string) {
    this.#origin = origin
    this.#user = user
  }

  /** Returns what `navigator.credentials.create` would, as JSON. */
  create(challenge: string, lies: Lies = {}): string {
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    const id = Buffer.from(lies.id ?? this.id, 'base64url')
    const key = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x!, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y!, 'base64url'),
    ])
    const data = Buffer.concat([
      this.#data({ flags: verified | attested, ...lies }, 0),
      Buffer.alloc(16),
      Buffer.from([id.length >> 8, id.length & 255]),
      id,
      key,
    ])
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      text('fmt'),
      text(lies.fmt ?? 'none'),
      text('attStmt'),
      Buffer.from([0xa0]),
      text('authData'),
      Buffer.from([0x59, data.length >> 8, data.length & 255]),
      data,
    ])
    const clientDataJSON = this.#clientData(challenge, 'webauthn.create', lies)
    return this.#json(id.toString('base64url'), {
      clientDataJSON,
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal', 'hybrid'],
    })
  }

  /** Returns what `navigator.credentials.get` would, as JSON. */
  get(challenge: string, lies: Lies = {}): string {
    const data = this.#data(lies, lies.counter ?? ++this.counter)
    const clientDataJSON = this.#clientData(challenge, 'webauthn.get', lies)
    const digest = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest()
    const signature = sign('sha256', Buffer.concat([data, digest]), this.#keys.privateKey)
    const user = lies.user === undefined ? this.#user : lies.user
    return this.#json(lies.id ?? this.id, {
      clientDataJSON,
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: user === null ? null : Buffer.from(user, 'hex').toString('base64url'),
    })
  }

  #data({ host = new URL(this.#origin).hostname, flags = verified }: Lies, counter: number): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([createHash('sha256').update(host).digest(), Buffer.from([flags]), count])
  }

  #clientData(
    challenge: string,
    type: string,
    { origin = this.#origin, crossOrigin, ...lies }: Lies,
  ): string {
    const said = { type: lies.type ?? type, challenge, origin, crossOrigin: crossOrigin ?? false }
    return Buffer.from(JSON.stringify(said)).toString('base64url')
  }

  #json(id: string, response: object): string {
    return JSON.stringify({ id, rawId: id, type: 'public-key', response, clientExtensionResults: {} })
  }
}

/** A text of CBOR, of at most 23 bytes. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 | value.length]), Buffer.from(value)])
}
