// An authority of a test's own, those below it, and certificates that they issue and revoke, by openssl.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { TlsIdentity } from '../../src/config/model/config.ts'

const keys = {
  ec: ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
  rsa: ['rsa:2048'],
} as const

const day = 86_400_000

interface Leaf {
  readonly key?: keyof typeof keys
  /** Days from now until it expires, less than none for one that has. */
  readonly days?: number
  /** Days from now on it is valid, when not at once. */
  readonly from?: number
  /** As openssl takes it, such as `/O=Shop/CN=alice`. */
  readonly subject?: string
  /** What it may be used for, as openssl names it; anything by default. */
  readonly usage?: 'clientAuth' | 'serverAuth'
  /** Further lines of its extensions. */
  readonly extensions?: readonly string[]
}

export class Authority {
  readonly folder: string
  /** Its own certificate, PEM. */
  readonly certificate: string
  #count = 0

  /** Makes one that signs itself, or one that has this certificate. */
  constructor(name = 'Test CA', own: TlsIdentity | null = null) {
    this.folder = mkdtempSync(join(tmpdir(), 'gatehouse-authority-'))
    after(() => rmSync(this.folder, { recursive: true }))
    if (own === null) {
      const made = ['-newkey', ...keys.ec, '-nodes', '-keyout', 'ca.key', '-out', 'ca.pem']
      this.#openssl('req', '-x509', ...made, '-subj', `/CN=${name}`)
    } else {
      writeFileSync(join(this.folder, 'ca.key'), own.key)
      writeFileSync(join(this.folder, 'ca.pem'), own.certificate)
    }
    this.certificate = this.#read('ca.pem')
    writeFileSync(join(this.folder, 'index.txt'), '')
    writeFileSync(join(this.folder, 'number'), '01\n')
    writeFileSync(join(this.folder, 'ca.cnf'), settings)
  }

  /** Its own certificate and key. */
  get identity(): TlsIdentity {
    return { certificate: this.certificate, key: this.#read('ca.key') }
  }

  /** Makes an authority below this one. */
  intermediate(name: string, constraints = 'CA:true'): Authority {
    const extensions = [`basicConstraints=critical,${constraints}`, 'keyUsage=keyCertSign,cRLSign']
    return new Authority(name, this.issue([], { subject: `/CN=${name}`, extensions }))
  }

  /** Issues a certificate for host names and addresses. */
  issue(names: readonly string[], leaf: Leaf = {}): TlsIdentity {
    const id = `leaf-${++this.#count}`
    const { key = 'ec', days = 30, from = 0, subject = `/CN=${id}`, usage, extensions = [] } = leaf
    const alternatives = names.map(name => (/^[\d.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`))
    const lines = [
      ...(names.length === 0 ? [] : [`subjectAltName=${alternatives.join(',')}`]),
      ...(usage === undefined ? [] : [`extendedKeyUsage=${usage}`]),
      ...extensions,
    ]
    writeFileSync(join(this.folder, `${id}.ext`), `${lines.join('\n')}\n`)
    const asked = ['-newkey', ...keys[key], '-nodes', '-keyout', `${id}.key`, '-out', `${id}.csr`]
    this.#openssl('req', '-utf8', ...asked, '-subj', subject)
    const now = Date.now()
    const [begins, ends] = [from * day, days * day].map(ms => timeOf(now + ms))
    // One that has expired was valid before.
    const begin = days < 0 ? timeOf(now + (days - 30) * day) : begins!
    const files = ['-in', `${id}.csr`, '-out', `${id}.pem`, '-extfile', `${id}.ext`]
    this.#ca('-notext', '-preserveDN', '-utf8', ...files, '-startdate', begin, '-enddate', ends!)
    return { certificate: this.#read(`${id}.pem`), key: this.#read(`${id}.key`) }
  }

  revoke({ certificate }: TlsIdentity): void {
    writeFileSync(join(this.folder, 'revoked.pem'), certificate)
    this.#ca('-revoke', 'revoked.pem')
  }

  /** Lists what it has revoked, until some days from now. */
  revocationList(days = 30): string {
    const now = Date.now()
    const dates = [Math.min(0, days - 1), days].map(count => timeOf(now + count * day))
    this.#ca('-gencrl', '-out', 'ca.crl', '-crl_lastupdate', dates[0]!, '-crl_nextupdate', dates[1]!)
    return this.#read('ca.crl')
  }

  #ca(...args: string[]): void {
    this.#openssl('ca', '-batch', '-config', 'ca.cnf', ...args)
  }

  #openssl(...args: string[]): void {
    execFileSync(process.env.OPENSSL ?? 'openssl', args, { cwd: this.folder, stdio: 'pipe' })
  }

  #read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8')
  }
}

/** Writes wall-clock ms as a GeneralizedTime of ASN.1. */
function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
}

const settings = `[ca]
default_ca=own
[own]
database=index.txt
crlnumber=number
new_certs_dir=.
certificate=ca.pem
private_key=ca.key
default_md=sha256
rand_serial=yes
unique_subject=no
policy=any
[any]
countryName=optional
organizationName=optional
organizationalUnitName=optional
commonName=optional
emailAddress=optional
`
