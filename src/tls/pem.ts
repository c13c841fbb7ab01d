// Texts in PEM (RFC 7468), which may hold several blocks and other text between them.

import { X509Certificate } from 'node:crypto'
import { validityOf } from './validity.ts'

interface PemBlock {
  readonly label: string
  readonly text: string
}

/** Whether a text begins with a readable certificate; OpenSSL reads the times of its validity only later. */
export function isCertificate(pem: string): boolean {
  try {
    const { notBefore, notAfter } = validityOf(new X509Certificate(pem))
    return !Number.isNaN(notBefore) && !Number.isNaN(notAfter)
  } catch {
    return false
  }
}

export function pemBlocks(text: string): readonly string[] {
  return readPem(text).blocks.map(block => block.text)
}

/** Reads the blocks of a text; not whole if one has no end, as in a file that is still being written. */
export function readPem(text: string): { readonly blocks: readonly PemBlock[]; readonly isWhole: boolean } {
  const blocks: PemBlock[] = []
  let isWhole = true
  let open: { readonly label: string; readonly at: number } | null = null
  for (const { 0: line, 1: word, 2: label, index } of text.matchAll(boundaries)) {
    if (word === 'BEGIN') {
      if (open !== null) isWhole = false
      open = { label: label!, at: index }
    } else {
      if (open?.label === label)
        blocks.push({ label: label!, text: text.slice(open!.at, index + line.length) })
      else isWhole = false
      open = null
    }
  }
  return { blocks, isWhole: isWhole && open === null }
}

const boundaries = /-----(BEGIN|END) ([\w ]{1,40})-----/g

/** Returns certificates, private keys, and the labels of other blocks, except for parameters before a key. */
export function sortPem(text: string): {
  readonly certificates: readonly string[]
  readonly keys: readonly string[]
  readonly others: readonly string[]
} {
  const { blocks } = readPem(text)
  const textsOf = (isWanted: (label: string) => boolean) =>
    blocks.filter(({ label }) => isWanted(label)).map(block => block.text)
  return {
    certificates: textsOf(isOfCertificate),
    keys: textsOf(isOfKey),
    others: blocks
      .map(({ label }) => label)
      .filter(label => !isOfCertificate(label) && !isOfKey(label) && !/^(?:EC|DH) PARAMETERS$/.test(label)),
  }
}

/** Whether a private key needs a passphrase: RFC 7468 section 11, and the headers of RFC 1421. */
export function isEncrypted(key: string): boolean {
  return key.startsWith('-----BEGIN ENCRYPTED ') || /^Proc-Type: *4, *ENCRYPTED/m.test(key)
}

function isOfCertificate(label: string): boolean {
  return /^(?:X509 |TRUSTED )?CERTIFICATE$/.test(label)
}

function isOfKey(label: string): boolean {
  return /^(?:\w+ )?PRIVATE KEY$/.test(label)
}
