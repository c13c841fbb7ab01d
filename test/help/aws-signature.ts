// Whether a request is signed as AWS requires, by the implementation of AWS.

import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Message } from './raw.ts'

interface Secrets {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** The hash that it asks for. */
class Sha256 {
  readonly #key: string | Uint8Array | undefined
  #bytes: Buffer = Buffer.alloc(0)

  constructor(key?: string | Uint8Array) {
    this.#key = key
  }

  update(data: string | Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(data as Uint8Array)])
  }

  async digest(): Promise<Uint8Array> {
    const hash = this.#key === undefined ? createHash('sha256') : createHmac('sha256', this.#key)
    return hash.update(this.#bytes).digest()
  }

  reset(): void {
    this.#bytes = Buffer.alloc(0)
  }
}

/** Makes the Authorization for a request again, from what arrived of it. */
export async function signatureOf(request: Message, region: string, credentials: Secrets): Promise<string> {
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(request.field('authorization') ?? '') ?? []
  const [path, search = ''] = request.target.split('?') as [string, string?]
  const date = request.field('x-amz-date')!.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')
  const signer = new SignatureV4({
    service: 'bedrock',
    region,
    credentials,
    sha256: Sha256 as never,
    applyChecksum: false,
  })
  const headers = Object.fromEntries(
    names
      .split(';')
      .flatMap(name => (/^x-amz-(date|security-token)$/.test(name) ? [] : [[name, request.field(name)!]])),
  )
  const made = await signer.sign(
    {
      method: request.startLine.split(' ')[0],
      protocol: 'https:',
      hostname: 'unused',
      path,
      query: Object.fromEntries(new URLSearchParams(search)),
      headers,
      body: request.body,
    } as never,
    { signingDate: new Date(date) },
  )
  return (made as unknown as { headers: Record<string, string> }).headers.authorization!
}
