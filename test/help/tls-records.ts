// Records of TLS 1.3 that no honest client sends, under the keys of a connection that one has opened.

import { createCipheriv, createHmac } from 'node:crypto'

const keyUpdate = Buffer.from([24, 0, 0, 1, 1])

/** Writes the records of a client with TLS_AES_128_GCM_SHA256 that has sent none since its handshake (RFC 8446 section 5.2). */
export class TlsRecords {
  #secret: Buffer
  #count = 0

  /** Takes client_application_traffic_secret_0. */
  constructor(secret: Buffer) {
    this.#secret = secret
  }

  data(text: string): Buffer {
    return this.#record(23, Buffer.from(text, 'latin1'))
  }

  /** Takes new keys, and asks the server to do the same. */
  keyUpdate(): Buffer {
    const record = this.#record(22, keyUpdate)
    this.#secret = this.#derive('traffic upd', 32)
    this.#count = 0
    return record
  }

  #record(type: number, content: Buffer): Buffer {
    const nonce = this.#derive('iv', 12)
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.#count++) >>> 0, 8)
    const head = Buffer.from([23, 3, 3, 0, 0])
    head.writeUInt16BE(content.length + 1 + 16, 3)
    const cipher = createCipheriv('aes-128-gcm', this.#derive('key', 16), nonce)
    cipher.setAAD(head)
    const sealed = [cipher.update(content), cipher.update(Buffer.from([type])), cipher.final()]
    return Buffer.concat([head, ...sealed, cipher.getAuthTag()])
  }

  /** Derives up to 32 bytes (RFC 8446 section 7.1, HKDF-Expand-Label). */
  #derive(label: string, length: number): Buffer {
    const name = Buffer.from(`tls13 ${label}`)
    const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])])
    return createHmac('sha256', this.#secret).update(info).digest().subarray(0, length)
  }
}
