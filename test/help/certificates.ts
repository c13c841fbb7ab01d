// An authority of a test's own, and certificates that it issues, by openssl.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { TlsIdentity } from '../../src/config/config.ts'

const keys = {
  ec: ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
  rsa: ['rsa:2048'],
} as const

interface Leaf {
  readonly key?: keyof typeof keys
  /** Whole days until it expires. */
  readonly days?: number
}

export class Authority {
  readonly folder: string
  /** Its own certificate, PEM. */
  readonly certificate: string
  #count = 0

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'gatehouse-authority-'))
    after(() => rmSync(this.folder, { recursive: true }))
    this.#openssl(
      'req',
      '-x509',
      '-newkey',
      ...keys.ec,
      '-nodes',
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      '-subj',
      '/CN=Test CA',
    )
    this.certificate = this.#read('ca.pem')
  }

  /** Issues a certificate for host names and addresses. */
  issue(names: readonly string[], { key = 'ec', days = 30 }: Leaf = {}): TlsIdentity {
    const id = `leaf-${++this.#count}`
    const alternatives = names.map(name => (/^[\d.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`)).join(',')
    this.#openssl(
      'req',
      '-newkey',
      ...keys[key],
      '-nodes',
      '-keyout',
      `${id}.key`,
      '-out',
      `${id}.csr`,
      '-subj',
      `/CN=${id}`,
    )
    writeFileSync(
      join(this.folder, `${id}.ext`),
      names.length === 0 ? '' : `subjectAltName=${alternatives}\n`,
    )
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', `${id}.ext`]
    this.#openssl('x509', '-req', '-in', `${id}.csr`, ...signed, '-days', String(days), '-out', `${id}.pem`)
    return { certificate: this.#read(`${id}.pem`), key: this.#read(`${id}.key`) }
  }

  #openssl(...args: string[]): void {
    execFileSync(process.env.OPENSSL ?? 'openssl', args, { cwd: this.folder, stdio: 'pipe' })
  }

  #read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8')
  }
}
