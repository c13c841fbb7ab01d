// The server's keys for credentials: the current one makes digests and seals, older ones only check.

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { seal, unseal } from './seal.ts'

/** HMAC-SHA-256 in hex, and the id of the key. */
interface KeyedDigest {
  readonly digest: string
  readonly key: string
}

const minLength = 32

export class SecretKeys {
  readonly #current: DerivedKeys
  readonly #keys: readonly DerivedKeys[]

  /** At least 32 bytes each. */
  constructor(current: Buffer, old: readonly Buffer[] = []) {
    this.#current = derive(current)
    this.#keys = [this.#current, ...old.map(derive)]
  }

  /** 8 hex digits that identify the key without revealing it. */
  get currentId(): string {
    return this.#current.id
  }

  knows(keyId: string): boolean {
    return this.#keys.some(({ id }) => id === keyId)
  }

  /** 256 random bits need neither salt nor a slow hash. */
  digest(value: string): KeyedDigest {
    return { digest: digestUnder(this.#current, value).toString('hex'), key: this.#current.id }
  }

  /** In constant time; false, in the same time, if the key of the digest is unknown. */
  matches({ digest, key }: KeyedDigest, value: string): boolean {
    const keys = this.#keys.find(({ id }) => id === key)
    const expected = Buffer.from(digest, 'hex')
    const actual = digestUnder(keys ?? this.#current, value)
    const isSame = timingSafeEqual(
      actual,
      expected.length === actual.length ? expected : Buffer.alloc(actual.length),
    )
    return isSame && keys !== undefined
  }

  /** Returns 32 bytes of the current key for a use of their own: what they protect ends with that key. */
  keyFor(use: string): Buffer {
    return this.#current.part(use, 32)
  }

  seal(text: string, context: string): string {
    return seal(this.#current.sealing, text, context)
  }

  unseal(sealed: string, context: string): string | null {
    for (const { sealing } of this.#keys) {
      const text = unseal(sealing, sealed, context)
      if (text !== null) return text
    }
    return null
  }
}

interface DerivedKeys {
  part(use: string, length: number): Buffer
  readonly id: string
  readonly digesting: Buffer
  readonly sealing: Buffer
}

function derive(key: Buffer): DerivedKeys {
  if (key.length < minLength) throw new RangeError(`a secret key must have at least ${minLength} bytes`)
  const part = (use: string, length: number) =>
    Buffer.from(hkdfSync('sha256', key, '', `gatehouse client secrets: ${use}`, length))
  return { part, id: part('id', 4).toString('hex'), digesting: part('digest', 32), sealing: part('seal', 32) }
}

function digestUnder({ digesting }: DerivedKeys, value: string): Buffer {
  return createHmac('sha256', digesting).update(value).digest()
}
