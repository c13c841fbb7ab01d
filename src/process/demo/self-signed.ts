// A self-signed certificate, to show how the gateway handles one.

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

interface Identity {
  readonly key: string // PEM
  readonly cert: string // PEM
}

const day = 86_400_000
const ecdsaWithSha256 = sequence(tlv(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
const commonName = tlv(0x06, Buffer.from('550403', 'hex'))
const subjectAltName = tlv(0x06, Buffer.from('551d11', 'hex'))

/** Makes an X.509 v3 certificate (RFC 5280, section 4.1), valid from a day ago for `days` days. */
export function selfSigned(name: string, days = 30): Identity {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const names = sequence(tlv(0x31, sequence(commonName, tlv(0x0c, Buffer.from(name)))))
  const alternatives = sequence(subjectAltName, tlv(0x04, sequence(tlv(0x82, Buffer.from(name)))))
  const content = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    names,
    sequence(time(Date.now() - day), time(Date.now() + days * day)),
    names,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(alternatives)),
  )
  const signature = tlv(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]))
  const der = sequence(content, ecdsaWithSha256, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${der.replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  }
}

function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts))
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\..*/g, '')
  return tlv(0x17, Buffer.from(`${digits.slice(2)}Z`))
}
